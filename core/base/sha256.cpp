// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/sha256.h"
#include "core/base/input_file.h"
#include "core/base/sha256_blocks.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sodium.h>

#include <fcntl.h>
#include <unistd.h>

namespace fourfold {

namespace {
std::string hex(const unsigned char (&digest)[crypto_hash_sha256_BYTES])
{
    char text[2 * crypto_hash_sha256_BYTES + 1];
    sodium_bin2hex(text, sizeof text, digest, sizeof digest);
    return text;
}

Problem unreadable(const std::filesystem::path& file)
{
    return {errno == ENOENT ? ProblemCode::not_found : ProblemCode::io,
        std::string("cannot be read: ") + std::strerror(errno), "", printable(file.string(), 4096)};
}
} // namespace

std::string sha256_hex(std::string_view bytes)
{
    Sha256 hash;
    hash.add(bytes);
    return hash.hex();
}

// libsodium's where the processor has no instructions for it.
struct Sha256::State {
    crypto_hash_sha256_state portable;
    Sha256Words words = kSha256Begin;
    std::array<unsigned char, 64> rest{}; // the beginning of the next block
    uint64_t bytes = 0;
    bool quick = has_sha256_instructions();

    void add(const unsigned char* data, std::size_t size)
    {
        const std::size_t held = bytes % rest.size();
        bytes += size;
        if (held > 0) {
            const std::size_t part = std::min(size, rest.size() - held);
            std::copy_n(data, part, rest.data() + held);
            data += part;
            size -= part;
            if (held + part < rest.size())
                return;
            add_sha256_blocks(words, rest.data(), 1);
        }
        const std::size_t blocks = size / rest.size();
        add_sha256_blocks(words, data, blocks);
        std::copy_n(data + blocks * rest.size(), size % rest.size(), rest.data());
    }

    // What is added last: a bit, zeros to the end of a block less eight bytes, the number of bits.
    void finish(unsigned char (&digest)[crypto_hash_sha256_BYTES])
    {
        const uint64_t bits = bytes * 8;
        std::array<unsigned char, 72> end{0x80};
        const std::size_t zeros = (rest.size() + 55 - bytes % rest.size()) % rest.size();
        for (std::size_t i = 0; i < 8; ++i)
            end[1 + zeros + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
        add(end.data(), 9 + zeros);
        for (std::size_t i = 0; i < sizeof digest; ++i)
            digest[i] = static_cast<unsigned char>(words[i / 4] >> (24 - 8 * (i % 4)));
    }
};

Sha256::Sha256()
    : state_(std::make_unique<State>())
{
    crypto_hash_sha256_init(&state_->portable);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes)
{
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    if (state_->quick)
        state_->add(data, bytes.size());
    else
        crypto_hash_sha256_update(&state_->portable, data, bytes.size());
}

std::string Sha256::hex() const
{
    State copy = *state_;
    unsigned char digest[crypto_hash_sha256_BYTES];
    if (copy.quick)
        copy.finish(digest);
    else
        crypto_hash_sha256_final(&copy.portable, digest);
    return fourfold::hex(digest);
}

Expected<std::string> sha256_descriptor(int fd, const std::filesystem::path& name)
{
    Sha256 hash;
    std::string block(1 << 18, '\0');
    for (off_t at = 0;;) {
        const ssize_t got = pread(fd, block.data(), block.size(), at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return unreadable(name);
        if (got == 0)
            return hash.hex();
        hash.add({block.data(), static_cast<std::size_t>(got)});
        at += got;
    }
}

Expected<std::string> sha256_file(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const FileDescriptor fd, open_regular(file));
    return sha256_descriptor(fd.get(), file);
}

} // namespace fourfold
