// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/net/proof.h"

#include <sodium.h>
#include <sys/random.h>

#include <algorithm>

namespace fourfold {

namespace {

unsigned char* bytes_of(Proof::Block& block)
{
    return reinterpret_cast<unsigned char*>(block.data());
}
const unsigned char* bytes_of(const Proof::Block& block)
{
    return reinterpret_cast<const unsigned char*>(block.data());
}

} // namespace

bool is_token(std::string_view text)
{
    return text.size() == 2 * kTokenBytes && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

Proof::Proof(std::string_view token, std::string_view purpose)
{
    static_assert(crypto_auth_KEYBYTES == kBytes && crypto_auth_BYTES == kBytes && crypto_hash_sha256_BYTES == kBytes);
    std::string text(purpose);
    text += ':';
    text += token;
    crypto_hash_sha256(bytes_of(key_), reinterpret_cast<const unsigned char*>(text.data()), text.size());
    sodium_memzero(text.data(), text.size());
    while (getrandom(challenge_.data(), challenge_.size(), 0) != ssize_t(challenge_.size())) {
    } // whole, or interrupted
}

Proof::Block Proof::answer(char role, const Block& client, const Block& server) const
{
    std::array<unsigned char, 1 + 2 * kBytes> said{};
    said[0] = static_cast<unsigned char>(role);
    std::copy(client.begin(), client.end(), said.begin() + 1);
    std::copy(server.begin(), server.end(), said.begin() + 1 + kBytes);
    Block out{};
    crypto_auth(bytes_of(out), said.data(), said.size(), bytes_of(key_));
    return out;
}

Proof::Block Proof::of_client(const Block& client, const Block& server) const
{
    return answer('c', client, server);
}

Proof::Block Proof::of_server(const Block& client, const Block& server) const
{
    return answer('s', client, server);
}

bool same_block(const Proof::Block& a, const Proof::Block& b)
{
    return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Expected<void> prove(int fd, std::string_view token, std::string_view purpose, Deadline deadline)
{
    const Proof own(token, purpose);
    std::string hello(Proof::kWord);
    hello.append(own.challenge().data(), own.challenge().size());
    Proof::Block challenge{}, proof{};
    const auto broken = [&] {
        return Problem{ProblemCode::network,
            milliseconds_until(deadline) == 0 ? "the other end does not answer" : "the connection broke", {}, {}};
    };
    if (!send_fully(fd, hello, deadline) || !read_fully(fd, challenge.data(), challenge.size(), deadline))
        return broken();
    const Proof::Block said = own.of_client(own.challenge(), challenge);
    if (!send_fully(fd, {said.data(), said.size()}, deadline))
        return broken();
    if (!read_fully(fd, proof.data(), proof.size(), deadline))
        return milliseconds_until(deadline) == 0
            ? broken()
            : Problem{ProblemCode::refused, "the other end does not accept the token", {}, {}};
    if (!same_block(proof, own.of_server(own.challenge(), challenge)))
        return Problem{ProblemCode::conflict, "the other end does not know the token", {}, {}};
    return {};
}

} // namespace fourfold
