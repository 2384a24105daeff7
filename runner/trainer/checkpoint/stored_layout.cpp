// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/stored_layout.h"

#include "core/model/family.h"

namespace fourfold::trainer {

StoredLayout::StoredLayout(const ModelShape& model, const Shard& shard)
    : rows_(shard.valid_rows)
    , head_dim_(model.head_dim)
{
    const Parameter& parameter = shard.parameter;
    shape_ = parameter.shape;
    shape_[0] = rows_;
    if (shape_.size() > 1)
        columns_ = shape_[1];
    if (!find_family(model.model_type)->input_first || parameter.layer < 0)
        return;
    fused_ = parameter.role == Role::fused;
    transposed_ = shape_.size() > 1;
    if (transposed_)
        shape_ = {columns_, rows_};
}

// Table: head, then query, key or value, then element. Stored: query, key or value, then head, then element.
int64_t StoredLayout::unfused(int64_t row) const
{
    const int64_t element = row % head_dim_, part = row / head_dim_ % 3, head = row / head_dim_ / 3;
    return part * (rows_ / 3) + head * head_dim_ + element;
}

} // namespace fourfold::trainer
