// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/stored_layout.h"

#include "core/model/family.h"

namespace fourfold::trainer {

StoredLayout::StoredLayout(const ModelShape& model, const Shard& shard)
    : name_(shard.parameter.name)
    , rows_(shard.valid_rows)
    , head_dim_(model.head_dim)
{
    const Parameter& parameter = shard.parameter;
    shape_ = parameter.shape;
    shape_[0] = rows_;
    if (shape_.size() > 1)
        columns_ = shape_[1];
    row_stride_ = columns_;
    if (!find_family(model.model_type)->input_first || parameter.layer < 0)
        return;
    fused_ = parameter.role == Role::fused;
    if (shape_.size() > 1) {
        shape_ = {columns_, rows_};
        row_stride_ = 1;
        stride_ = rows_;
    }
}

std::optional<StoredLayout> StoredLayout::among_experts(const ModelShape& model, const Shard& shard)
{
    const Parameter& parameter = shard.parameter;
    if (parameter.expert < 0 || !find_family(model.model_type)->experts_together)
        return std::nullopt;
    StoredLayout layout(model, shard);
    const bool bias = parameter.shape.size() == 1, in_turns = parameter.role != Role::down;
    const std::string number = "." + std::to_string(parameter.expert) + ".";
    layout.name_ = parameter.name.substr(0, parameter.name.rfind(number)) + (in_turns ? ".gate_up_proj" : ".down_proj")
        + (bias ? "_bias" : "");
    const int64_t experts = model.experts->count, outputs = layout.rows_ * (in_turns ? 2 : 1);
    layout.shape_ = {experts, layout.columns_, outputs};
    if (bias)
        layout.shape_ = {experts, outputs};
    layout.begin_ = parameter.expert * layout.columns_ * outputs + (parameter.role == Role::up ? 1 : 0);
    layout.row_stride_ = in_turns ? 2 : 1;
    layout.stride_ = outputs;
    return layout;
}

// Table: head, then query, key or value, then element. Stored: query, key or value, then head, then element.
int64_t StoredLayout::unfused(int64_t row) const
{
    const int64_t element = row % head_dim_, part = row / head_dim_ % 3, head = row / head_dim_ / 3;
    return part * (rows_ / 3) + head * head_dim_ + element;
}

} // namespace fourfold::trainer
