// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values of the positions that a model has read: what follows attends to them without computing them again.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>

namespace fourfold::trainer {

class KeyValueCache {
public:
    // Of all positions so far; [positions, b, kv_heads, head_dim].
    struct Seen {
        at::Tensor key, value;
    };
    // Puts those of the positions from length() on behind what the layer has, and returns all.
    Seen extended(int layer, const at::Tensor& key, const at::Tensor& value);

    // Positions that every layer has read.
    [[nodiscard]] int64_t length() const { return length_; }
    void advance(int64_t positions) { length_ += positions; } // behind a pass through all layers
    void clear() { length_ = 0; }

private:
    std::map<int, Seen> rooms_; // by layer; behind length() nothing is meant
    int64_t length_ = 0;
};

} // namespace fourfold::trainer
