// SPDX-License-Identifier: GPL-3.0-or-later
// What one pipeline stage does in a training step, as a list of operations without durations.
// Step time, memory over time, the timeline and every explanation are derived from this list and nothing else.
#pragma once

#include "core/base/units.h"
#include "core/layout/mesh.h"
#include "core/plan/plan.h"
#include "core/stack/constants.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fourfold {

// When the operation runs: per micro-batch (forward, recompute, backward, weight_gradient) or once a step.
enum class Phase { forward, recompute, backward, weight_gradient, step };

// The heading under which its exposed time is reported (`time_by_part` of the contract).
enum class Part { compute, recompute, tp, cp, pp, dp, ep, bubble, optimizer, other };
template <>
inline constexpr auto kWords<Part> = std::to_array<std::string_view>(
    {"compute", "recompute", "tp", "cp", "pp", "dp", "ep", "bubble", "optimizer", "other"});
inline constexpr int kParts = int(kWords<Part>.size());
static_assert(kParts == int(Part::other) + 1);

// What an operation may hide behind: the time of these operations in the same pass (forward, or recompute and
// backward), or one whole pass of the stage (gradient reduction behind the last backward).
enum class Window { none, gemm, attention, layer, forward_pass, backward_pass };

// What an operation does, with the sizes of one rank after sharding: one struct for each kind that is priced
// differently (core/cost/prices.h).

struct Gemm { // m x k times k x n, `batch` times
    double m = 0, n = 0, k = 0, batch = 1;
    bool narrow = false; // at the rate of the plan's precision where that is of products alone (is_of_products)
    Constant narrow_share = Constant::one; // of the gain over bf16 what these products keep
    bool operator==(const Gemm&) const = default;
};

// Scaled dot-product attention.
struct Attention {
    double queries = 0, keys = 0, head_dim = 0;
    double batch = 1; // sequences x heads
    double score_bytes = 0; // one pass over the scores, where they are in memory
    bool causal = false; // only half of the square
    bool fused = true; // one kernel; false: batched products with the score matrix in memory
    double blocks = 1; // parts of the keys that arrive one after the other (context parallel ring)
    bool operator==(const Attention&) const = default;
};

struct Elementwise { // memory-bound
    double bytes = 0; // of traffic
    Constant efficiency = Constant::stream_efficiency; // share of the memory bandwidth
    bool operator==(const Elementwise&) const = default;
};

// To how many of how many experts a token goes, and in how many (0 = any) of how many groups those are.
struct TokenRouting {
    double active = 0, experts = 0, active_groups = 0, groups = 1;
    bool operator==(const TokenRouting&) const = default;
};

enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, all_to_all };
struct Collective {
    using enum CollectiveKind;
    CollectiveKind kind = all_reduce;
    GroupKind group = GroupKind::none;
    double bytes = 0; // payload
    Constant latency = Constant::collective_latency_s; // alpha per log2(ranks)
    bool ends_only = false; // of the group only its first and last rank take part
    TokenRouting routing = {}; // all_to_all of tokens between experts
    bool operator==(const Collective&) const = default;
};

struct PointToPoint { // to a neighbour in a pipeline or ring
    GroupKind group = GroupKind::none;
    double bytes = 0; // one way
    Constant latency = Constant::collective_latency_s; // per transfer
    bool operator==(const PointToPoint&) const = default;
};

struct OptimizerUpdate {
    double bytes = 0; // traffic of gradients, states and weights
    double least_bytes = 0; // gradients read, two states read and written
    bool operator==(const OptimizerUpdate&) const = default;
};

// How a cost of the host takes effect, with t = value of its constant * times * repeat.
enum class HostRule {
    fixed, // adds t
    share, // adds t * the time of the pass
    floor, // the layers of the pass take at least t: smooth maximum with their device time
};
struct HostCost { // of the stack, whatever the device
    HostRule rule = HostRule::fixed;
    Constant constant = Constant::zero; // its price
    double times = 1;
    bool operator==(const HostCost&) const = default;
};

using Work = std::variant<Gemm, Attention, Elementwise, Collective, PointToPoint, OptimizerUpdate, HostCost>;

struct Operation {
    std::string name = {}; // "qkv projection", "tp all-gather before attention"
    Phase phase = Phase::forward;
    Part part = Part::compute;
    double repeat = 1; // how often this operation runs in its phase (usually layers of the stage)
    bool in_layer = true; // belongs to the transformer layers (not to embedding, head or host)
    Window window = Window::none; // hidden = min((1 - floor) * time, share * window)
    Constant window_share = Constant::one;
    Constant exposed_floor = Constant::zero;
    Constant scale = Constant::one; // factor on the time that the formula gives
    std::string_view note = {}; // why, with the source of the formula: shown in explanations; a literal
    Work work = Elementwise{};

    template <typename Kind>
    [[nodiscard]] const Kind* as() const
    {
        return std::get_if<Kind>(&work);
    }
    template <typename Kind>
    [[nodiscard]] bool is() const
    {
        return std::holds_alternative<Kind>(work);
    }
    [[nodiscard]] bool communicates() const { return is<Collective>() || is<PointToPoint>(); }
    // Floating point operations of one execution: 2 m n k batch for a product, 4 queries keys head_dim batch (half if
    // causal) for attention; attention's backward takes 2.5 times as many when fused (scores are computed again), else
    // twice.
    [[nodiscard]] double flops() const;
    bool operator==(const Operation&) const = default;
};
double flops(const Gemm& product);
double flops(const Attention& attention, Phase phase);

// Something that occupies memory on one GPU of the stage.
enum class MemoryKind { weights, gradients, optimizer, activations, other };
inline constexpr std::size_t kMemoryKinds = static_cast<std::size_t>(MemoryKind::other) + 1;
enum class Lifetime {
    step, // always there
    micro_batch, // from a micro-batch's forward until its backward (or input gradient) ends
    weight_gradient, // from a micro-batch's input gradient until its weight gradient, where a schedule parts them
    forward, // while a forward runs (workspace)
    loss, // between a micro-batch's forward and backward, where the head is (logits and what the loss makes of them)
    backward, // while a backward runs (recomputed activations)
    update, // while the optimizer runs
};
// Number: double, or Formula where the size is explained (core/program/formula.h).
template <typename Number>
struct AllocationOf {
    MemoryKind kind = MemoryKind::other;
    Lifetime lifetime = Lifetime::step;
    Number bytes = 0.0;
    std::string_view name, note; // literals
};
using Allocation = AllocationOf<double>;

// One chunk of the model on one pipeline rank; the index counts along the model.
struct ChunkProgram {
    int chunk = 0;
    int first_layer = 0, layers = 0;
    bool embedding = false, head = false;
    std::vector<Operation> operations; // every phase
    std::vector<Allocation> allocations; // Lifetime::micro_batch / weight_gradient / forward / loss / backward
};
struct StageProgram {
    int stage = 0;
    std::vector<ChunkProgram> chunks; // virtual_stages of them, ascending
    std::vector<Operation> step_operations; // once a step: gradient reduction, optimizer, parameter gather
    std::vector<Allocation> allocations; // Lifetime::step
    double parameters = 0; // per GPU of the stage, after tp/ep sharding
};

// The whole job: one StageProgram a pipeline rank. `plan` must pass check(). `stage_of_chunk` places the chunks; left
// out, it follows from the schedule's name (core/schedule/schedules.h).
std::vector<StageProgram> build_program(const ResolvedPlan& plan);
std::vector<StageProgram> build_program(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk);

} // namespace fourfold
