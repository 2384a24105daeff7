// SPDX-License-Identifier: GPL-3.0-or-later
// Optimizer states of a checkpoint, as the ranks held them: each rank's file has pieces of the table's tensors, and an
// index says which. Any other cut of the model is put together from them.
#pragma once

#include "runner/trainer/checkpoint/tensor_source.h"

namespace fourfold::trainer {

// Elements of a tensor of the parameter table that stand one after the other in a block of its columns.
struct Piece {
    std::string tensor; // of the parameter
    int64_t column = 0, width = 1; // the block: columns [column, column + width)
    int64_t first = 0, count = 0; // elements [first, first + count) of the block, row by row

    // The elements [begin, begin + count) of a rank's shard, row-major, as far as they are no vocabulary padding;
    // nothing is left of it where `count` is 0.
    static Piece of(const Shard& shard, int64_t begin, int64_t count);
    // Of one of its states, within its file.
    [[nodiscard]] std::string stored_name(const std::string& suffix) const;
};

// By tensor: what the file of that name has of it.
using PiecesByTensor = std::map<std::string, std::vector<std::pair<std::string, Piece>>>;
// {tensor: [[file, column, width, first, count], ...]}
Json to_json(const PiecesByTensor& pieces);
Expected<PiecesByTensor> pieces_from_json(const Json& json, const std::string& where);

class PieceFolder : public TensorSource {
public:
    // Reads the index. Files are opened when something of them is read.
    static Expected<std::shared_ptr<PieceFolder>> open(
        const std::filesystem::path& folder, const std::filesystem::path& index);

    [[nodiscard]] Expected<std::vector<double>> read(const ModelShape& model, const Shard& shard,
        const std::string& suffix, int64_t begin, int64_t end) const override;

private:
    // Pieces of one block of columns, by their first element.
    struct Block {
        int64_t column = 0, width = 1;
        std::map<int64_t, std::pair<std::string, Piece>> pieces;
    };
    // What the block has of its elements [first, first + count) goes to `out`; returns how many these are.
    Expected<int64_t> copy(
        const Block& block, const std::string& suffix, int64_t first, int64_t count, double* out) const;
    Expected<std::shared_ptr<const SafetensorsReader>> reader(const std::string& file) const;

    std::filesystem::path folder_;
    std::map<std::string, std::vector<Block>> blocks_; // by tensor
    mutable std::map<std::string, std::shared_ptr<const SafetensorsReader>> readers_; // by file
};

} // namespace fourfold::trainer
