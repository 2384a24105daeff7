// SPDX-License-Identifier: GPL-3.0-or-later
// Token ids of NumPy's and safetensors' files.
#include "core/dataset/token_layout.h"
#include "pack_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold {
namespace {

using namespace testing_pack;
using testing::ElementsAre;
using testing::HasSubstr;

std::string number(std::uint64_t value, int bytes)
{
    std::string out;
    for (int byte = 0; byte < bytes; ++byte)
        out += static_cast<char>(value >> (8 * byte) & 0xFF);
    return out;
}

// As numpy.save writes it (numpy/lib/format.py): the head ends with a line feed on a multiple of 64 bytes.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, int version = 1,
    const std::string& fortran = "False")
{
    std::string head = "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
    const std::size_t front = version == 1 ? 10 : 12;
    head.append(63 - (front + head.size()) % 64, ' ');
    head += '\n';
    return std::string("\x93NUMPY") + char(version) + '\0' + number(head.size(), version == 1 ? 2 : 4) + head + data;
}

std::string safetensors(const std::string& head, const std::string& data)
{
    return number(head.size(), 8) + head + data;
}

std::vector<std::int64_t> ids(const std::string& file)
{
    DataSource source;
    source.path = file;
    const auto store = open_tokens(source, "run.data[0]");
    EXPECT_TRUE(store) << store.error().line();
    std::vector<std::int64_t> out(std::size_t(store ? store->layout.tokens : 0));
    EXPECT_TRUE(store && store->read(0, std::int64_t(out.size()), out.data()));
    return out;
}

std::string refused(const std::string& file, const std::string& dtype = "")
{
    DataSource source;
    source.path = file;
    source.dtype = dtype;
    const auto store = open_tokens(source, "run.data[0]");
    return store ? "" : store.error().line();
}

TEST(TokenLayout, NumpyFilesSayWhatTheyHold)
{
    const Folder folder;
    const std::string words("\x01\x02\xff\xfe\x03\x00", 6);
    EXPECT_THAT(ids(folder.write("a.npy", npy("<u2", "(3,)", words))), ElementsAre(0x201, 0xfeff, 3));
    EXPECT_THAT(ids(folder.write("b.npy", npy("<i2", "(3,)", words, 2))), ElementsAre(0x201, -257, 3));
    EXPECT_THAT(ids(folder.write("c.npy", npy("|u1", "(2, 3)", words, 3))), ElementsAre(1, 2, 255, 254, 3, 0));
    EXPECT_THAT(ids(folder.write("d.npy", npy("<i8", "(1,)", number(1ull << 40, 8)))), ElementsAre(1ll << 40));
}

TEST(TokenLayout, OtherNumpyFilesAreNamed)
{
    const Folder folder;
    const std::string four(4, '\0');
    const auto message = [&](const std::string& bytes) { return refused(folder.write("x.npy", bytes)); };
    EXPECT_THAT(message(npy("<f4", "(1,)", four)), HasSubstr("run.data[0]"));
    EXPECT_THAT(message(npy("<f4", "(1,)", four)), HasSubstr("holds no little-endian integers"));
    EXPECT_THAT(message(npy(">u2", "(2,)", four)), HasSubstr("holds no little-endian integers"));
    EXPECT_THAT(message(npy("<u2", "()", four)), HasSubstr("one or two dimensions"));
    EXPECT_THAT(message(npy("<u2", "(1, 1, 2)", four)), HasSubstr("one or two dimensions"));
    EXPECT_THAT(message(npy("<u2", "(2, 1)", four, 1, "True")), HasSubstr("column after column"));
    EXPECT_THAT(message(npy("<u2", "(3,)", four)), HasSubstr("is torn: its head says 3 ids"));
    EXPECT_THAT(message(npy("<u2", "(999999999999, 999999999999)", four)), HasSubstr("x.npy"));
    EXPECT_THAT(message(npy("<u2", "(0,)", "")), HasSubstr("holds no tokens"));
    EXPECT_THAT(message("tokens of another kind"), HasSubstr("is no NumPy array"));
    const std::string whole = npy("<u2", "(2,)", four);
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THAT(message(whole.substr(0, size)), HasSubstr("x.npy")) << size;
    EXPECT_THAT(refused(folder.write("y.npy", whole), "uint16"), HasSubstr("leave dtype out"));
}

// Their bytes would be ids of a large vocabulary, and nobody would hear of it.
TEST(TokenLayout, FilesOfOtherKindsAreNoIds)
{
    const Folder folder;
    const auto message = [&](const std::string& begin) {
        return refused(folder.write("x.bin", begin + std::string(begin.size() % 2, ' ') + std::string(64, 'a')));
    };
    EXPECT_THAT(message(npy("<u2", "(1,)", "ab")), HasSubstr("x.bin: is a NumPy array, no file of token ids (name it"));
    EXPECT_THAT(message("MMIDIDX"), HasSubstr("name the .bin beside it"));
    EXPECT_THAT(message("PK\x03\x04"), HasSubstr("is a zip archive"));
    EXPECT_THAT(message(std::string("\x1f\x8b\x08\0", 4)), HasSubstr("is compressed"));
    EXPECT_THAT(message("\x1f\x8b\x08\x08"), HasSubstr("is compressed"));
    EXPECT_THAT(message("\x28\xb5\x2f\xfd"), HasSubstr("is compressed"));
    EXPECT_THAT(message("PAR1"), HasSubstr("is a Parquet table"));
    EXPECT_THAT(message("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
    EXPECT_THAT(message(std::string("\x88\xd8\x34\x01\x01\0\0\0", 8)), HasSubstr("is a token file of llm.c"));
    EXPECT_EQ(message("\x1f\x8b\x08\x09"), "");
    // Text that nobody packed.
    std::string lines;
    while (lines.size() < 400)
        lines += "{\"text\": \"a line of a corpus\"}\n";
    lines.resize(400);
    EXPECT_THAT(
        refused(folder.write("corpus.jsonl", lines)), HasSubstr("is text, no file of token ids (make a token file"));
    EXPECT_EQ(refused(folder.write("corpus.txt", lines)), "") << "its bytes are the tokens";
    std::string ids;
    for (int i = 0; i < 400; ++i)
        ids += number(std::uint64_t('a' + i % 26), 2);
    EXPECT_EQ(refused(folder.write("ids.bin", ids)), "");
    EXPECT_EQ(refused(folder.write("one.txt", "P")), "");
}

TEST(TokenLayout, AnIndexOfAnotherFileIsNamed)
{
    const Folder folder;
    const std::string lengths = folder.write("lengths", number(2, 4) + number(1, 4));
    const std::string file = folder.write("a.npy", npy("<u2", "(3,)", "abcdef"));
    ASSERT_TRUE(write_token_index(file + ".idx", TokenBytes::two, lengths, 2));
    EXPECT_EQ(refused(file), "");
    (void)folder.write("a.npy", npy("<u2", "(2,)", "abcd"));
    EXPECT_THAT(refused(file), HasSubstr("a.npy: holds 2 tokens, but"));
    EXPECT_THAT(refused(file), HasSubstr("a.npy.idx is of 3"));
}

TEST(TokenLayout, SafetensorsFilesSayWhatTheyHold)
{
    const Folder folder;
    const std::string data = number(7, 4) + number(0xffffffff, 4);
    EXPECT_THAT(ids(folder.write("a.safetensors",
                    safetensors(R"({"ids":{"dtype":"I32","shape":[1,2],"data_offsets":[0,8]}})", data))),
        ElementsAre(7, -1));
    EXPECT_THAT(ids(folder.write("b.safetensors",
                    safetensors(R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                R"("tokens":{"dtype":"U32","shape":[1],"data_offsets":[4,8]}})",
                        data))),
        ElementsAre(0xffffffff));
}

TEST(TokenLayout, OtherSafetensorsFilesAreNamed)
{
    const Folder folder;
    const auto message = [&](const std::string& head, std::size_t bytes = 8) {
        return refused(folder.write("x.safetensors", safetensors(head, std::string(bytes, '\1'))));
    };
    EXPECT_THAT(message(R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})"), HasSubstr("holds no integers"));
    EXPECT_THAT(message(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", 7), HasSubstr("is torn"));
    EXPECT_THAT(message(R"({"a":{"dtype":"I64","shape":[2],"data_offsets":[0,8]}})"), HasSubstr("is torn"));
    EXPECT_THAT(message(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[8,0]}})"), HasSubstr("is torn"));
    EXPECT_THAT(message(R"({"a":{"dtype":"I64","shape":[-1],"data_offsets":[0,8]}})"), HasSubstr("dimensions"));
    EXPECT_THAT(
        message(R"({"a":{"dtype":"I64","shape":[4611686018427387904],"data_offsets":[0,8]}})"), HasSubstr("x.safe"));
    EXPECT_THAT(message(R"({"a":{"dtype":"","shape":[1],"data_offsets":[0,8]}})"), HasSubstr("holds no integers"));
    EXPECT_THAT(message(R"({"a":7})"), HasSubstr("is no tensor"));
    EXPECT_THAT(message(R"({"a":{},"b":{}})"), HasSubstr("it holds 2 tensors"));
    EXPECT_THAT(message("[]"), HasSubstr("no JSON object"));
    EXPECT_THAT(message("{"), HasSubstr("no JSON object"));
    EXPECT_THAT(refused(folder.write("y.safetensors", "abc")), HasSubstr("too short"));
    EXPECT_THAT(refused(folder.write("z.safetensors", std::string(8, '\xff'))), HasSubstr("ends within its head"));
}

// Three documents of 5, 0 and 7 tokens, then one of 2.
TEST(TokenLayout, DocumentsBeginWhereTheIndexSays)
{
    const Folder folder;
    const std::array<std::uint32_t, 4> lengths{5, 0, 7, 2};
    const std::string written
        = folder.write("lengths", std::string(reinterpret_cast<const char*>(lengths.data()), sizeof lengths));
    ASSERT_TRUE(write_token_index(folder / "c.idx", TokenBytes::two, written, 4));
    const auto index = *TokenIndex::open(folder / "c.idx");
    EXPECT_EQ(index->documents(), 4);
    EXPECT_THAT(*index->document_begins(0, 14), ElementsAre(5, 12));
    EXPECT_THAT(*index->document_begins(4, 5), ElementsAre(5));
    EXPECT_THAT(*index->document_begins(5, 11), ElementsAre());
    EXPECT_THAT(*index->document_begins(6, 12), ElementsAre(12));

    // A document that begins with a sequence that is not there.
    std::string bytes = bytes_of(folder / "c.idx");
    bytes[bytes.size() - 16] = 9;
    const auto torn = *TokenIndex::open(folder.write("d.idx", bytes));
    const auto begins = torn->document_begins(0, 14);
    ASSERT_FALSE(begins);
    EXPECT_THAT(begins.error().line(), HasSubstr("document 3 begins with sequence 9 of 4"));
}

} // namespace
} // namespace fourfold
