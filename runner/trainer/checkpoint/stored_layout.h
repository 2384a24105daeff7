// SPDX-License-Identifier: GPL-3.0-or-later
// Where Hugging Face's files keep the elements of a tensor of the parameter table. Most agree. GPT-2 stores its linear
// layers input first, and its fused projection as all queries, all keys, all values instead of head after head; GPT-OSS
// has the experts of a layer in one tensor (Family::experts_together).
#pragma once

#include "runner/trainer/model/shard.h"

#include <optional>
#include <string>

namespace fourfold::trainer {

class StoredLayout {
public:
    // `shard` is any rank's part of the tensor: the layout is that of the whole.
    StoredLayout(const ModelShape& model, const Shard& shard);
    // As a part of the tensor that holds all experts of its layer; none where the family keeps them apart.
    static std::optional<StoredLayout> among_experts(const ModelShape& model, const Shard& shard);

    [[nodiscard]] const std::string& name() const { return name_; }
    // Of the stored tensor, without vocabulary padding.
    [[nodiscard]] const std::vector<int64_t>& shape() const { return shape_; }
    // Rows and columns of the table's tensor that are stored; a vector has one column.
    [[nodiscard]] int64_t rows() const { return rows_; }
    [[nodiscard]] int64_t columns() const { return columns_; }
    [[nodiscard]] bool as_in_the_table() const { return row_stride_ == columns_ && !fused_; }
    // Place in the stored tensor, row-major, of an element of the table's tensor.
    [[nodiscard]] int64_t index(int64_t row, int64_t column) const
    {
        return begin_ + (fused_ ? unfused(row) : row) * row_stride_ + column * stride_;
    }
    // From one element of a row of the table's tensor to the next.
    [[nodiscard]] int64_t stride() const { return stride_; }

private:
    [[nodiscard]] int64_t unfused(int64_t row) const;

    std::string name_;
    std::vector<int64_t> shape_;
    int64_t rows_ = 0, columns_ = 1, head_dim_ = 0;
    int64_t begin_ = 0, row_stride_ = 1, stride_ = 1;
    bool fused_ = false;
};

} // namespace fourfold::trainer
