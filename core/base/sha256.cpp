// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/sha256.h"
#include "core/base/text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sodium.h>

namespace fourfold {

namespace {
std::string hex(const unsigned char (&digest)[crypto_hash_sha256_BYTES])
{
    char text[2 * crypto_hash_sha256_BYTES + 1];
    sodium_bin2hex(text, sizeof text, digest, sizeof digest);
    return text;
}
} // namespace

std::string sha256_hex(std::string_view bytes)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    return hex(digest);
}

struct Sha256::State {
    crypto_hash_sha256_state hash;
};

Sha256::Sha256()
    : state_(std::make_unique<State>())
{
    crypto_hash_sha256_init(&state_->hash);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes)
{
    crypto_hash_sha256_update(&state_->hash, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string Sha256::hex() const
{
    crypto_hash_sha256_state copy = state_->hash;
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&copy, digest);
    return fourfold::hex(digest);
}

Expected<std::string> sha256_file(const std::filesystem::path& file)
{
    const auto problem = [&](int error) {
        return Problem{error == ENOENT ? ProblemCode::not_found : ProblemCode::io,
            std::string("cannot be read: ") + std::strerror(error), "", printable(file.string(), 4096)};
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rbe"), &std::fclose);
    if (!stream)
        return problem(errno);
    Sha256 hash;
    std::string block(1 << 18, '\0');
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), stream.get()))
        hash.add({block.data(), got});
    if (std::ferror(stream.get()))
        return problem(errno != 0 ? errno : EIO);
    return hash.hex();
}

} // namespace fourfold
