// SPDX-License-Identifier: GPL-3.0-or-later
// What one stage of a pipeline costs and holds, kept for all layouts of a search that share it.
#pragma once

#include "core/cost/passes.h"
#include "core/program/build.h"
#include "core/program/rank_shape.h"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace fourfold {

// One pass: seconds, and what memory pressure stretches of it.
struct PassTerms {
    double seconds = 0, unstretched = 0;
    [[nodiscard]] double under(double pressure) const { return seconds + pressure * unstretched; }
};

// One micro-batch on one chunk. Bytes per GPU: kept from forward to backward, and more while a pass runs.
struct ChunkTerms {
    PassTerms forward, backward;
    double hop = 0; // seconds of a transfer to the next stage
    double kept = 0, in_forward = 0, in_backward = 0;
};

// Once a step on one stage.
struct StepTerms {
    struct Item {
        double seconds = 0, most_hidden = 0; // of it, whatever the window
        double window_share = 0;
        enum class Window : std::uint8_t { none, forward, backward } window = Window::none;
        enum class Kind : std::uint8_t { reduce, gather, optimizer, other } kind = Kind::other;
    };
    std::vector<Item> items;
    double held = 0, in_update = 0; // bytes per GPU
};

// What is exposed of a step's work after `forward`, `backward` seconds of passes to hide it in, by Kind.
std::array<double, 4> exposed_by_kind(const StepTerms& terms, double forward, double backward, double overlap_slowdown);

class StageTermTable {
public:
    // `base`: model, cluster, stack, precision and all that the search does not vary.
    explicit StageTermTable(const ResolvedPlan& base);

    // Takes over the groups and degrees of another layout.
    void set_layout(const ResolvedPlan& plan);
    // Terms of the layout set last; built once for all layouts that cannot differ in them.
    const ChunkTerms& chunk(const ResolvedPlan& plan, const ChunkShape& shape);
    // Of the stage that holds these chunks.
    [[nodiscard]] StepTerms step(const ResolvedPlan& plan, std::span<const ChunkShape> chunks) const;

    [[nodiscard]] const CostContext& context() const { return context_; }
    [[nodiscard]] std::size_t size() const { return chunks_.size(); }

private:
    // Everything that the operations and allocations of a chunk depend on within one search.
    using Key = std::array<std::int32_t, 22>;
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    [[nodiscard]] Key key_of(const ResolvedPlan& plan, const ChunkShape& shape) const;

    CostContext context_;
    Key layout_key_{}; // the part that set_layout fills
    std::unordered_map<Key, ChunkTerms, Hash> chunks_;
};

} // namespace fourfold
