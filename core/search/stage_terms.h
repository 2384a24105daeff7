// SPDX-License-Identifier: GPL-3.0-or-later
// What a micro-batch costs and holds on a chunk of the model, and a step on a stage: the terms that a search composes
// the time and the memory of its layouts of. They are read off the same operation list as a prediction.
#pragma once

#include "core/cost/passes.h"
#include "core/memory/interleaved_peak.h"
#include "core/program/build.h"
#include "core/program/rank_shape.h"

#include <algorithm>
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
    Usage usage = {}, weight_usage = {};
};

struct ChunkPasses {
    PassTerms forward, backward;
};

// What a chunk holds: chunks of one kind cost the same.
struct ChunkKind {
    int dense = 0, moe = 0; // layers
    bool embedding = false, head = false;
    bool operator==(const ChunkKind&) const = default;
    auto operator<=>(const ChunkKind&) const = default;
};

// What the job adds to one pass of a chunk, whatever the micro-batch.
struct PassAdditions {
    std::vector<CoveredWork> sharding; // gathers and reductions of sharded states, in order
    double fixed = 0; // seconds
    double share = 0; // of the pass
    Usage usage = {}; // of the sharding
};
struct ChunkAdditions {
    PassAdditions forward, backward;
};

// A pass with its additions; memory pressure stretches it.
struct ComposedPass {
    double seconds = 0;
    double unstretched = 0, fixed = 0; // of it, see PassTime
    Usage usage = {}, weight_usage = {};
};
ComposedPass compose(const PassTerms& pass, const PassAdditions& additions, double overlap_slowdown, double pressure);

// Bytes per GPU that a stage holds all the time, and more in the optimizer's update.
struct StageBytes {
    double held = 0, in_update = 0;
};

// Terms of the layouts of one search. The layers of a chunk are alike and nothing in a pass reaches across embedding,
// layers and head, so that a layer of each kind, an embedding and a head are built and priced once for all layouts that
// cut them alike, and chunks are sums of them.
class StageTermTable {
public:
    // `base`: model, cluster, stack, precision and all that the search does not vary.
    explicit StageTermTable(const ResolvedPlan& base);

    // What follows is of the layout set last, which `plan` holds. Degrees, order, virtual stages, schedule or sharding
    // have changed:
    void set_layout(const ResolvedPlan& plan);
    // Of one micro-batch of the plan's size.
    ChunkBytes bytes(const ResolvedPlan& plan, const ChunkKind& kind);
    ChunkPasses passes(const ResolvedPlan& plan, const ChunkKind& kind);
    [[nodiscard]] double hop(const ResolvedPlan& plan) const; // seconds of a transfer to the next stage
    // What the job adds to the passes of a chunk with these parameters.
    ChunkAdditions additions(const ResolvedPlan& plan, const StageParameters& chunk);
    // Of the stage that holds these chunks.
    [[nodiscard]] StageParameters parameters(const ResolvedPlan& plan, std::span<const ChunkKind> chunks) const;
    // Of a stage that holds these parameters; where goes_by_batch() only for the plan's micro-batches.
    [[nodiscard]] bool goes_by_batch(const ResolvedPlan& plan) const;
    [[nodiscard]] StageBytes stage_bytes(const ResolvedPlan& plan, const StageParameters& parameters) const;
    [[nodiscard]] std::vector<StepTerm> step(const ResolvedPlan& plan, const StageParameters& parameters);
    // How the groups lie on the nodes: all that hop(), additions() and step() depend on beyond degrees, sharding,
    // virtual stages and micro-batch.
    using Places = std::array<std::uint32_t, kGroupKinds>;
    [[nodiscard]] Places places() const;

    [[nodiscard]] const CostContext& context() const { return context_; }

private:
    struct ChunkTerms {
        ChunkPasses passes;
        ChunkBytes bytes;
        double in_loss = 0; // bytes at the loss, the instant before the backward
    };
    // Parts of chunks for one micro-batch size, as far as they were asked for.
    struct Parts {
        int micro_batch = 0;
        std::optional<ChunkTerms> embedding, head;
        std::array<std::optional<ChunkTerms>, kRecomputes> dense_layer, moe_layer; // by Recompute
        std::map<std::pair<ChunkKind, Recompute>, ChunkTerms> whole; // chunks that are no sum of parts
    };
    // Everything that they depend on within one search, micro-batch and recomputation apart.
    using Key = std::array<std::int32_t, 12>;
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    Parts& parts(int micro_batch);
    [[nodiscard]] RankShape with_micro_batch(const ResolvedPlan& plan) const;
    [[nodiscard]] ChunkShape shape_of(const ChunkKind& kind) const;
    [[nodiscard]] ChunkTerms build(const ResolvedPlan& plan, const ChunkKind& kind) const;
    // add(terms, times) for each part of the chunk.
    template <typename Add>
    void for_each_part(const ResolvedPlan& plan, const ChunkKind& kind, Add&& add);

    const ResolvedPlan& base_;
    CostContext context_;
    struct Groups {
        int tp = 0, cp = 0, pp = 0, dp = 0, ep = 0, etp = 0;
        decltype(Layout::order) order{};
        bool operator==(const Groups&) const = default;
    };
    Groups groups_; // what context_ knows
    int shard_ = 0; // of them the ranks of an HSDP shard, where it knows them
    std::optional<ChunkAdditions> overheads_; // of every chunk on the same mesh, sharding apart
    int overheads_of_ = 0; // virtual stages
    std::unordered_map<Key, std::vector<Parts>, Hash> cuts_;
    std::vector<Parts>* cut_ = nullptr; // of the layout
    RankShape rank_; // of the layout, but for its micro-batch
    std::vector<Operation> operations_; // kept for its memory
};

} // namespace fourfold
