// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizer's states in pieces: whatever cut wrote them, any other reads from them what a naive copy has.
#include "runner/trainer/checkpoint/host_file.h"
#include "runner/trainer/checkpoint/pieces.h"
#include "tests/parity/ranks.h"

#include <gmock/gmock.h>

#include <deque>
#include <random>

namespace fourfold::trainer {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

constexpr char kSuffix[] = ".exp_avg";

// A tensor [rows + padding, columns] (a vector with columns 0), and its part of `rank` of `parts` along `dim`.
Shard shard_of(int64_t rows, int64_t padding, int64_t columns, int dim, int64_t rank, int64_t parts)
{
    Shard shard;
    shard.parameter.name = "weight";
    shard.parameter.shape = {rows + padding};
    if (columns > 0)
        shard.parameter.shape.push_back(columns);
    shard.parameter.tp_dim = dim;
    shard.valid_rows = rows;
    shard.length = dim < 0 ? rows + padding : shard.parameter.shape[std::size_t(dim)] / parts;
    shard.begin = dim < 0 ? 0 : shard.length * rank;
    return shard;
}

// What stands at an element of the shard: its place in the whole tensor; nothing in the padding.
double naive(const Shard& shard, int64_t element)
{
    const auto shape = shard.shape();
    const int64_t columns = shape.size() > 1 ? shape[1] : 1;
    const int64_t all_columns = shape.size() > 1 ? shard.parameter.shape[1] : 1;
    const int64_t row = element / columns + (shard.parameter.tp_dim == 0 ? shard.begin : 0);
    const int64_t column = element % columns + (shard.parameter.tp_dim == 1 ? shard.begin : 0);
    return row < shard.valid_rows ? double(row * all_columns + column + 1) : 0;
}

// Writes the tensor as `parts` shards along `dim`, each cut at random into files; the index is not complete without
// the piece `left_out`.
void write_pieces(const std::filesystem::path& folder, const std::vector<Shard>& shards, std::mt19937& random,
    std::optional<std::size_t> left_out = {})
{
    PiecesByTensor pieces;
    std::size_t number = 0;
    for (const Shard& shard : shards)
        for (int64_t begin = 0; begin < shard.elements();) {
            const int64_t count = std::min<int64_t>(1 + int64_t(random() % 40), shard.elements() - begin);
            const Piece piece = Piece::of(shard, begin, count);
            std::vector<float> values;
            for (int64_t i = begin; i < begin + piece.count; ++i)
                values.push_back(float(naive(shard, i)));
            begin += count;
            if (piece.count == 0 || number++ == left_out)
                continue;
            const HostFile file{"optimizer-" + std::to_string(number) + ".safetensors",
                {{{piece.stored_name(kSuffix), "F32", {piece.count}}, reinterpret_cast<const std::byte*>(values.data()),
                    std::nullopt}}};
            ASSERT_TRUE(file.write(folder));
            pieces["weight"].emplace_back(file.name, piece);
        }
    ASSERT_TRUE(
        write_file_atomically(folder / "optimizer.safetensors.index.json", Json{{"pieces", to_json(pieces)}}.dump()));
}

Expected<std::vector<double>> read(const std::filesystem::path& folder, const Shard& shard, int64_t begin, int64_t end)
{
    FOURFOLD_TRY(const auto opened, PieceFolder::open(folder, folder / "optimizer.safetensors.index.json"));
    return opened->read(ModelShape{}, shard, kSuffix, begin, end);
}

std::vector<Shard> cut(int64_t rows, int64_t padding, int64_t columns, int dim, int64_t parts)
{
    std::vector<Shard> shards;
    for (int64_t rank = 0; rank < (dim < 0 ? 1 : parts); ++rank)
        shards.push_back(shard_of(rows, padding, columns, dim, rank, parts));
    return shards;
}

TEST(Pieces, OfAnyCutMakeAnyOther)
{
    std::mt19937 random(3);
    for (const int64_t columns : {0, 12}) {
        const int dims = columns == 0 ? 1 : 2;
        for (int written = -1; written < dims; ++written)
            for (const int64_t parts : {1, 2, 4}) {
                const TemporaryFolder folder;
                write_pieces(folder.path(), cut(10, written == 0 ? 2 : 0, columns, written, parts), random);
                for (int asked = -1; asked < dims; ++asked)
                    for (const int64_t readers : {1, 2, 3, 6})
                        for (const Shard& shard : cut(10, asked == 0 ? 2 : 0, columns, asked, readers)) {
                            const int64_t begin = int64_t(random()) % shard.elements();
                            const int64_t end = begin + int64_t(random()) % (shard.elements() - begin + 1);
                            const auto values = read(folder.path(), shard, begin, end);
                            ASSERT_TRUE(values) << values.error().line();
                            ASSERT_EQ(int64_t(values->size()), end - begin);
                            for (int64_t i = begin; i < end; ++i)
                                ASSERT_EQ((*values)[std::size_t(i - begin)], naive(shard, i))
                                    << written << " of " << parts << ", " << asked << " of " << readers;
                        }
            }
    }
}

TEST(Pieces, ThatAreMissingAreNotTakenForZeros)
{
    std::mt19937 random(5);
    const TemporaryFolder folder;
    write_pieces(folder.path(), cut(10, 0, 12, 1, 2), random, 1);
    const Shard whole = shard_of(10, 0, 12, -1, 0, 1);
    EXPECT_THAT(read(folder.path(), whole, 0, 120).error().line(), HasSubstr("of 120 elements of \"weight.exp_avg\""));
    // The other half of the columns is there.
    EXPECT_TRUE(read(folder.path(), shard_of(10, 0, 12, 1, 1, 2), 0, 60));
}

TEST(Pieces, OfAnIndexThatCannotBeAreNamed)
{
    const TemporaryFolder folder;
    const auto line = [&](const std::string& text) {
        EXPECT_TRUE(write_file_atomically(folder.path() / "index.json", text));
        const auto opened = PieceFolder::open(folder.path(), folder.path() / "index.json");
        return opened ? std::string() : opened.error().line();
    };
    EXPECT_EQ(line(R"({"pieces": {"a": [["f", 0, 1, 0, 3]]}})"), "");
    EXPECT_THAT(line("[]"), HasSubstr("expected \"pieces\""));
    for (const char* piece :
        {R"(["f", 0, 1, 0])", R"(["f", 0, 0, 0, 3])", R"(["f", -1, 1, 0, 3])", R"([1, 0, 1, 0, 3])",
            R"(["../f", 0, 1, 0, 3])", R"(["f", 0, 1, 0.5, 3])", R"(["f", 0, 1, 0, 9007199254740993])", "7"})
        EXPECT_THAT(line(R"({"pieces": {"a": [)" + std::string(piece) + "]}}"), HasSubstr("each piece of \"a\""))
            << piece;
}

} // namespace
} // namespace fourfold::trainer
