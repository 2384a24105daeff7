// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dataset/token_index.h"
#include "core/dataset/token_type.h"
#include "pack_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace fourfold {
namespace {

using namespace testing_pack;
using testing::HasSubstr;

// Byte by byte as Megatron-LM's `_IndexWriter` writes it: little-endian numbers in its order.
TEST(TokenIndex, IsMegatrons)
{
    const Folder folder;
    const std::array<std::uint32_t, 3> lengths{5, 1, 300};
    const std::string written
        = folder.write("lengths", std::string(reinterpret_cast<const char*>(lengths.data()), sizeof lengths));
    ASSERT_TRUE(write_token_index(folder / "c.idx", TokenBytes::two, written, 3));
    std::string expected("MMIDIDX\0\0", 9);
    const auto put = [&](std::int64_t number, int bytes) {
        for (int byte = 0; byte < bytes; ++byte)
            expected += static_cast<char>(number >> (8 * byte) & 0xFF);
    };
    put(1, 8);
    put(8, 1); // uint16
    put(3, 8);
    put(4, 8);
    for (const int length : {5, 1, 300})
        put(length, 4);
    for (const int begin : {0, 10, 12})
        put(begin, 8);
    for (const int document : {0, 1, 2, 3})
        put(document, 8);
    EXPECT_EQ(bytes_of(folder / "c.idx"), expected);

    const auto index = TokenIndex::open(folder / "c.idx");
    ASSERT_TRUE(index) << index.error().line();
    EXPECT_EQ((*index)->token_bytes(), TokenBytes::two);
    EXPECT_EQ((*index)->sequences(), 3);
    const auto last = (*index)->sequence(2);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->tokens, 300);
    EXPECT_EQ(last->first_byte, 12);
    EXPECT_EQ(*(*index)->data_bytes(), 612);
}

TEST(TokenIndex, TornOnesAreNamed)
{
    const Folder folder;
    const std::array<std::uint32_t, 2> lengths{5, 7};
    const std::string written
        = folder.write("lengths", std::string(reinterpret_cast<const char*>(lengths.data()), sizeof lengths));
    ASSERT_TRUE(write_token_index(folder / "c.idx", TokenBytes::four, written, 2));
    const std::string whole = bytes_of(folder / "c.idx");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto index = TokenIndex::open(folder.write("torn.idx", whole.substr(0, size)));
        ASSERT_FALSE(index) << size;
        EXPECT_EQ(index.error().code, ProblemCode::bad_input);
        EXPECT_THAT(index.error().line(), HasSubstr("torn.idx"));
    }
    EXPECT_FALSE(TokenIndex::open(folder.write("long.idx", whole + "x")));
    std::string version = whole;
    version[9] = 2;
    EXPECT_THAT(TokenIndex::open(folder.write("v2.idx", version)).error().message, HasSubstr("version 2"));
    std::string type = whole;
    type[17] = 6; // float64
    EXPECT_THAT(TokenIndex::open(folder.write("f.idx", type)).error().message, HasSubstr("type 6"));
    std::string end = whole;
    end[end.size() - 8] = 9; // where the last document ends
    EXPECT_THAT(TokenIndex::open(folder.write("e.idx", end)).error().message, HasSubstr("sequence 9 of 2"));
}

// 10^9 documents: the head alone is read. The file has no blocks.
TEST(TokenIndex, ABillionDocumentsOpenWithoutBeingRead)
{
    const Folder folder;
    constexpr std::int64_t kDocuments = 1'000'000'000, kHead = 9 + 8 + 1 + 8 + 8;
    const std::string written = folder.write("lengths", "");
    ASSERT_TRUE(write_token_index(folder / "c.idx", TokenBytes::two, written, 0));
    std::string head = bytes_of(folder / "c.idx").substr(0, kHead);
    const std::int64_t bounds = kDocuments + 1;
    std::memcpy(head.data() + 18, &kDocuments, 8);
    std::memcpy(head.data() + 26, &bounds, 8);
    const std::string file = folder.write("big.idx", head);
    if (::truncate(file.c_str(), kHead + kDocuments * 12 + bounds * 8) != 0)
        GTEST_FAIL() << "this file system has no files of 20 GB without blocks";
    const auto index = TokenIndex::open(file);
    ASSERT_TRUE(index) << index.error().line();
    EXPECT_EQ((*index)->sequences(), kDocuments);
    EXPECT_TRUE((*index)->sequence(kDocuments - 1));
    EXPECT_TRUE((*index)->document_begins(100, 200)); // of some 60 numbers
}

TEST(TokenType, TheIndexTheNameOrThePlanSays)
{
    const Folder folder;
    DataSource source;
    const auto says = [&] { return token_bytes_of(source, "run.data[0]"); };
    source.path = folder / "a.txt";
    EXPECT_EQ(*says(), TokenBytes::one);
    source.path = folder / "a.bin";
    EXPECT_EQ(*says(), TokenBytes::two);
    source.dtype = "uint32";
    EXPECT_EQ(*says(), TokenBytes::four);
    source.dtype = "float";
    EXPECT_THAT(says().error().line(), HasSubstr("run.data[0].dtype"));

    const std::uint32_t length = 2;
    const std::string written
        = folder.write("lengths", std::string(reinterpret_cast<const char*>(&length), sizeof length));
    ASSERT_TRUE(write_token_index(folder / "a.idx", TokenBytes::four, written, 1));
    source.path = folder.write("a.bin", "12345678");
    source.dtype.clear();
    EXPECT_EQ(*says(), TokenBytes::four);
    source.dtype = "uint16";
    EXPECT_THAT(says().error().message, HasSubstr("says uint32"));
    source.dtype.clear();
    source.path = folder.write("a.bin", "1234");
    EXPECT_THAT(says().error().message, HasSubstr("4 bytes, but its index is of 8"));
    fs::remove(folder / "a.idx");
    fs::create_symlink(folder / "moved.idx", folder / "a.idx");
    EXPECT_THAT(says().error().line(), HasSubstr("a.idx: cannot be opened"));
}

} // namespace
} // namespace fourfold
