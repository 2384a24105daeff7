// SPDX-License-Identifier: GPL-3.0-or-later
// The processor's instructions and portable code must agree on every length and every cut.
#include "core/base/sha256.h"
#include "core/base/sha256_blocks.h"

#include <gtest/gtest.h>

#include <sodium.h>

#include <random>

namespace fourfold {
namespace {

std::string portable(std::string_view bytes)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    char text[2 * sizeof digest + 1];
    sodium_bin2hex(text, sizeof text, digest, sizeof digest);
    return text;
}

std::string random_text(std::size_t bytes, std::mt19937& random)
{
    std::string out(bytes, '\0');
    for (char& c : out)
        c = static_cast<char>(random());
    return out;
}

TEST(Sha256, EqualsPortableCodeAtEveryLength)
{
    std::mt19937 random(1);
    const std::string text = random_text(1100, random);
    for (std::size_t length = 0; length <= text.size(); ++length)
        ASSERT_EQ(
            sha256_hex(std::string_view(text).substr(0, length)), portable(std::string_view(text).substr(0, length)))
            << length << (has_sha256_instructions() ? " by instructions" : " by portable code");
}

TEST(Sha256, DoesNotDependOnHowTheTextIsCut)
{
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        const std::string text = random_text(random() % 2000, random);
        Sha256 hash;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t part = std::min<std::size_t>(text.size() - at, random() % 200);
            hash.add(std::string_view(text).substr(at, part));
            at += part;
            if (round % 10 == 0) {
                ASSERT_EQ(hash.hex(), portable(text.substr(0, at))) << "asked in between, and more follows";
            }
        }
        ASSERT_EQ(hash.hex(), portable(text));
    }
}

} // namespace
} // namespace fourfold
