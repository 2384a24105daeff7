// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/pieces.h"

#include "core/base/text.h"
#include "runner/trainer/checkpoint/names.h"

#include <algorithm>

namespace fourfold::trainer {

namespace {
int64_t columns_of(const Shard& shard)
{
    return shard.parameter.shape.size() > 1 ? shard.parameter.shape[1] : 1;
}

// The shard as a block of the table's tensor: its columns, and the first element of it that is the shard's.
Piece block_of(const Shard& shard)
{
    const bool by_column = shard.parameter.tp_dim == 1;
    Piece block{shard.parameter.name, by_column ? shard.begin : 0, by_column ? shard.length : columns_of(shard), 0, 0};
    block.first = shard.parameter.tp_dim == 0 ? shard.begin * block.width : 0;
    return block;
}

Problem unfit_pieces(const std::string& what, const std::string& where)
{
    return {ProblemCode::bad_input, what, "give a checkpoint of the plan's model", where};
}
} // namespace

Piece Piece::of(const Shard& shard, int64_t begin, int64_t count)
{
    Piece piece = block_of(shard);
    piece.first += begin;
    piece.count = std::clamp<int64_t>(shard.valid_rows * piece.width - piece.first, 0, count);
    return piece;
}

std::string Piece::stored_name(const std::string& suffix) const
{
    return tensor + suffix + "@" + std::to_string(column) + ":" + std::to_string(first);
}

Json to_json(const PiecesByTensor& pieces)
{
    Json json = Json::object();
    for (const auto& [tensor, places] : pieces)
        for (const auto& [file, piece] : places)
            json[tensor].push_back({file, piece.column, piece.width, piece.first, piece.count});
    return json;
}

Expected<PiecesByTensor> pieces_from_json(const Json& json, const std::string& where)
{
    constexpr int64_t kMost = int64_t(1) << 48; // elements; far from where sums overflow
    const auto is_count
        = [](const Json& number) { return number.is_number_integer() && number >= 0 && number <= kMost; };
    PiecesByTensor pieces;
    for (const auto& [tensor, places] : json.items())
        for (const Json& place : places) {
            if (!place.is_array() || place.size() != 5 || !place[0].is_string()
                || !is_plain_name(place[0].get<std::string>()) || !std::all_of(place.begin() + 1, place.end(), is_count)
                || place[2] == 0)
                return unfit_pieces(
                    "expected file, column, width, first element and count of each piece of " + in_quotes(tensor),
                    where);
            pieces[tensor].emplace_back(place[0].get<std::string>(),
                Piece{tensor, place[1].get<int64_t>(), place[2].get<int64_t>(), place[3].get<int64_t>(),
                    place[4].get<int64_t>()});
        }
    return pieces;
}

Expected<std::shared_ptr<PieceFolder>> PieceFolder::open(
    const std::filesystem::path& folder, const std::filesystem::path& index)
{
    FOURFOLD_TRY(const Json json, read_json_file(index, kMostIndexBytes));
    if (!json.is_object() || !json.contains("pieces") || !json["pieces"].is_object())
        return unfit_pieces("expected \"pieces\": what each file has of each tensor", index.string());
    FOURFOLD_TRY(PiecesByTensor pieces, pieces_from_json(json["pieces"], index.string()));
    auto opened = std::make_shared<PieceFolder>();
    opened->folder_ = folder;
    for (auto& [tensor, places] : pieces) {
        std::vector<Block>& blocks = opened->blocks_[tensor];
        for (auto& [file, piece] : places) {
            auto block = std::ranges::find_if(blocks, [&piece = piece](const Block& known) {
                return known.column == piece.column && known.width == piece.width;
            });
            if (block == blocks.end())
                block = blocks.insert(blocks.end(), {piece.column, piece.width, {}});
            const int64_t first = piece.first;
            block->pieces[first] = {std::move(file), std::move(piece)};
        }
    }
    return opened;
}

Expected<std::shared_ptr<const SafetensorsReader>> PieceFolder::reader(const std::string& file) const
{
    auto& known = readers_[file];
    if (!known) {
        FOURFOLD_TRY(known, SafetensorsReader::open(folder_ / file));
    }
    return known;
}

Expected<int64_t> PieceFolder::copy(
    const Block& block, const std::string& suffix, int64_t first, int64_t count, double* out) const
{
    const int64_t last = first + count;
    int64_t copied = 0;
    auto next = block.pieces.upper_bound(first);
    if (next != block.pieces.begin())
        --next;
    for (; next != block.pieces.end() && next->first < last; ++next) {
        const auto& [file, piece] = next->second;
        const int64_t begin = std::max(first, piece.first), end = std::min(last, piece.first + piece.count);
        if (begin >= end)
            continue;
        FOURFOLD_TRY(const auto stored, reader(file));
        const auto found = stored->tensors().find(piece.stored_name(suffix));
        if (found == stored->tensors().end())
            return Problem{ProblemCode::bad_input,
                "it has no piece " + in_quotes(piece.stored_name(suffix)) + ", which the plan's optimizer needs",
                "a checkpoint goes on under the training.optimizer that it was saved under; --export makes a model of "
                "its weights, to begin with",
                stored->path()};
        if (found->second.elements() != piece.count || found->second.bytes() == 0)
            return unfit_pieces("it has no piece " + in_quotes(piece.stored_name(suffix)) + " of "
                    + std::to_string(piece.count) + " elements, which the index places there",
                stored->path());
        FOURFOLD_CHECK(stored->read(found->second, begin - piece.first, 1, end - begin, out + (begin - first)));
        copied += end - begin;
    }
    return copied;
}

Expected<std::vector<double>> PieceFolder::read(
    const ModelShape& /*model*/, const Shard& shard, const std::string& suffix, int64_t begin, int64_t end) const
{
    const Piece own = block_of(shard);
    const int64_t wanted = Piece::of(shard, begin, end - begin).count;
    std::vector<double> values(std::size_t(end - begin), 0);
    int64_t found = 0;
    static const std::vector<Block> kNone;
    const auto blocks = blocks_.find(shard.parameter.name);
    for (const Block& block : blocks == blocks_.end() ? kNone : blocks->second) {
        if (block.column == own.column && block.width == own.width) {
            FOURFOLD_TRY(const int64_t copied, copy(block, suffix, own.first + begin, wanted, values.data()));
            found += copied;
            continue;
        }
        const int64_t left = std::max(own.column, block.column);
        const int64_t right = std::min(own.column + own.width, block.column + block.width);
        if (left >= right)
            continue;
        // Row by row: the part of it that both have, and that is asked for.
        for (int64_t row = begin / own.width; row * own.width < begin + wanted; ++row) {
            const int64_t from = std::max(left - own.column, begin - row * own.width);
            const int64_t to = std::min(right - own.column, begin + wanted - row * own.width);
            if (from >= to)
                continue;
            const int64_t table_row = own.first / own.width + row;
            FOURFOLD_TRY(const int64_t copied,
                copy(block, suffix, table_row * block.width + own.column + from - block.column, to - from,
                    values.data() + (row * own.width + from - begin)));
            found += copied;
        }
    }
    if (found != wanted)
        return unfit_pieces("it has " + std::to_string(found) + " of " + std::to_string(wanted) + " elements of "
                + in_quotes(shard.parameter.name + suffix) + " that the plan's model needs",
            (folder_ / index_name("optimizer")).string());
    return values;
}

} // namespace fourfold::trainer
