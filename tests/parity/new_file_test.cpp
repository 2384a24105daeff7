// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are written past the page cache have the bytes that they got, whatever the pieces.
#include "runner/trainer/checkpoint/new_file.h"
#include "tests/parity/ranks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

namespace fourfold::trainer {
namespace {

std::vector<char> content(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<char> numbers(std::size_t count)
{
    std::vector<char> bytes(count);
    uint32_t state = 1;
    for (char& byte : bytes)
        byte = char((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
}

// Of less than a block, of whole blocks, and of blocks and an end that no disk takes as it is.
TEST(NewFiles, HaveTheBytesThatTheyGot)
{
    const testing::TemporaryFolder folder;
    for (const std::size_t size :
        {std::size_t(0), std::size_t(5), std::size_t(8) << 20, (std::size_t(9) << 20) + 4099}) {
        const std::vector<char> bytes = numbers(size);
        const auto path = folder.path() / std::to_string(size);
        {
            const auto file = NewFile::create(path, int64_t(size));
            ASSERT_TRUE(file) << file.error().line();
            std::size_t piece = 1;
            for (std::size_t at = 0; at < size; at += piece, piece = piece * 7 + 3)
                ASSERT_TRUE((*file)->append(bytes.data() + at, std::min(piece, size - at)));
            const auto finished = (*file)->finish();
            ASSERT_TRUE(finished) << finished.error().line();
        }
        EXPECT_TRUE(content(path) == bytes) << size << " bytes";
    }
}

TEST(NewFiles, ReplaceNone)
{
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "a";
    std::ofstream(path) << "mine";
    const auto file = NewFile::create(path, 4);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().line(), ::testing::HasSubstr("cannot create it: File exists"));
    EXPECT_EQ(content(path), (std::vector<char>{'m', 'i', 'n', 'e'}));
}

} // namespace
} // namespace fourfold::trainer
