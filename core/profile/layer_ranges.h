// SPDX-License-Identifier: GPL-3.0-or-later
// Which layer of the model a kernel of a trace is of: by the named ranges that it ran in on the GPU, or in which the
// host launched it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fourfold {

// Of "layers.12.attention", "FSDP::all_gather (layers.3)", "nn.Module: TransformerBlock_7", "layer 4".
std::optional<int> layer_of_range(std::string_view name);

class LayerRanges {
public:
    void add(std::int64_t thread, double start_s, double end_s, int layer);
    // Before layer_at().
    void sort();
    [[nodiscard]] bool empty() const { return ranges_.empty(); }
    // Of the shortest range of the thread that holds this moment; -1: none.
    [[nodiscard]] int layer_at(std::int64_t thread, double time_s) const;

private:
    struct Range {
        std::int64_t thread = 0;
        double start_s = 0, end_s = 0;
        int layer = -1;
        std::ptrdiff_t around = -1; // place of the range that holds this one
    };
    std::vector<Range> ranges_; // sorted: by thread and start
};

} // namespace fourfold
