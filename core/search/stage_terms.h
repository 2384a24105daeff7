// SPDX-License-Identifier: GPL-3.0-or-later
// What a micro-batch costs and holds on a chunk of the model, and a step on a stage: the terms that a search composes
// the time and the memory of its layouts of. They are read off the same operation list as a prediction.
#pragma once

#include "core/cost/passes.h"
#include "core/program/build.h"
#include "core/program/rank_shape.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace fourfold {

// One pass, in seconds, without what the job adds to it. Passes of parts of a chunk add up.
struct PassTerms {
    double seconds = 0;
    double window = 0; // of the layers: what communication could hide behind
    double fixed = 0, weights = 0; // of `seconds`: fixed costs of the host, weight gradients (core/cost/passes.h)
};

// One micro-batch on one chunk. Bytes per GPU: kept from forward to backward, from there to the weight gradient where a
// schedule parts them, and more while a pass runs.
struct ChunkTerms {
    PassTerms forward, backward;
    double kept = 0, kept_for_weights = 0, in_forward = 0, in_backward = 0;
};

// What a chunk holds: chunks of one kind cost the same.
struct ChunkKind {
    int dense = 0, moe = 0; // layers
    bool embedding = false, head = false;
    bool operator==(const ChunkKind&) const = default;
    auto operator<=>(const ChunkKind&) const = default;
};

// Work of which a part hides behind other work.
struct CoveredWork {
    double seconds = 0, most_hidden = 0; // of it, however much there is to hide behind
    double window_share = 0;
    // What is exposed, and what hidden communication costs those that it hides behind. Uses up `window`.
    double exposed(double& window, double overlap_slowdown) const;
};

// What the job adds to one pass of a chunk, whatever the micro-batch.
struct PassAdditions {
    std::vector<CoveredWork> sharding; // gathers and reductions of sharded states, in order
    double fixed = 0; // seconds
    double share = 0; // of the pass
};
struct ChunkAdditions {
    PassAdditions forward, backward;
};

// A pass with its additions; memory pressure stretches it.
struct ComposedPass {
    double seconds = 0, weight_gradient = 0;
};
ComposedPass compose(const PassTerms& pass, const PassAdditions& additions, double overlap_slowdown, double pressure);

// Once a step on one stage.
struct StepTerms {
    enum class Window : std::uint8_t { none, forward, backward };
    enum class Kind : std::uint8_t { reduce, gather, optimizer, other };
    struct Item {
        CoveredWork work;
        Window window = Window::none;
        Kind kind = Kind::other;
    };
    std::vector<Item> items;
    double held = 0, in_update = 0; // bytes per GPU
};
// What is exposed of it after `forward`, `backward` seconds of passes to hide it in, by Kind.
std::array<double, 4> exposed_by_kind(const StepTerms& terms, double forward, double backward, double overlap_slowdown);

// Terms of the layouts of one search. The layers of a chunk are alike and nothing in a pass reaches across embedding,
// layers and head, so that a layer of each kind, an embedding and a head are built and priced once for all layouts that
// cut them alike, and chunks are sums of them.
class StageTermTable {
public:
    // `base`: model, cluster, stack, precision and all that the search does not vary.
    explicit StageTermTable(const ResolvedPlan& base);

    // What follows is of the layout set last; `plan` is that layout. Degrees, order, schedule or sharding have changed:
    void set_layout(const ResolvedPlan& plan);
    ChunkTerms chunk(const ResolvedPlan& plan, const ChunkKind& kind);
    [[nodiscard]] double hop(const ResolvedPlan& plan) const; // seconds of a transfer to the next stage
    // Additions of every chunk, without sharding.
    [[nodiscard]] ChunkAdditions overheads(const ResolvedPlan& plan) const;
    void add_sharding(ChunkAdditions& additions, const ResolvedPlan& plan, const ChunkKind& kind) const;
    // Of the stage that holds these chunks.
    [[nodiscard]] StepTerms step(const ResolvedPlan& plan, std::span<const ChunkKind> chunks) const;

    [[nodiscard]] const CostContext& context() const { return context_; }

private:
    // Parts of chunks for one micro-batch size, as far as they were asked for.
    struct Parts {
        int micro_batch = 0;
        std::optional<ChunkTerms> embedding, head;
        std::array<std::optional<ChunkTerms>, 3> dense_layer, moe_layer; // by Recompute
        std::map<std::pair<ChunkKind, Recompute>, ChunkTerms> whole; // chunks that are no sum of parts
    };
    // Everything that they depend on within one search, micro-batch and recomputation apart.
    using Key = std::array<std::int32_t, 9>;
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    Parts& parts(int micro_batch);
    [[nodiscard]] ChunkShape shape_of(const ChunkKind& kind) const;
    [[nodiscard]] ChunkTerms build(const ResolvedPlan& plan, const ChunkKind& kind) const;

    const ResolvedPlan& base_;
    CostContext context_;
    std::array<int, 11> groups_{}; // what context_ knows the groups of
    std::unordered_map<Key, std::vector<Parts>, Hash> cuts_;
    std::vector<Parts>* cut_ = nullptr; // of the layout
    RankShape rank_; // of the layout, but for its micro-batch
};

} // namespace fourfold
