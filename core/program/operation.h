// SPDX-License-Identifier: GPL-3.0-or-later
// What one pipeline stage does in a training step, as a list of operations without durations.
// Step time, memory over time, the timeline and every explanation are derived from this list and nothing else.
#pragma once

#include "core/base/units.h"
#include "core/layout/mesh.h"
#include "core/plan/plan.h"
#include "core/stack/constants.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

enum class OperationKind {
    gemm, // m x k times k x n, `batch` times
    attention, // scaled dot-product attention over `m` queries and `k` keys, `batch` = sequences x heads, `n` =
               // head_dim
    elementwise, // memory-bound: `bytes` of traffic
    collective, // `bytes` is the payload, see Collective
    send_receive, // pipeline or ring neighbour, `bytes` one way
    optimizer, // parameter update: `bytes` of state traffic
    host, // a fixed cost of the stack: the named constant, in seconds
};

enum class Collective { none, all_reduce, all_gather, reduce_scatter, all_to_all };

// When the operation runs: per micro-batch (forward, recompute, backward, weight_gradient) or once a step.
enum class Phase { forward, recompute, backward, weight_gradient, step };

// The heading under which its exposed time is reported (`time_by_part` of the contract).
enum class Part { compute, recompute, tp, cp, pp, dp, ep, bubble, optimizer, other };
inline constexpr int kParts = 10;
std::string_view name(Part part);

// What an operation may hide behind: the time of these operations in the same pass (forward, or recompute and
// backward), or one whole pass of the stage (gradient reduction behind the last backward).
enum class Window { none, gemm, attention, layer, forward_pass, backward_pass };

// How a `host` operation takes effect, with t = value of its constant * m * repeat.
enum class HostRule {
    fixed, // adds t
    share, // adds t * the time of the pass
    floor, // the layers of the pass take at least t: smooth maximum with their device time
};

struct Operation {
    OperationKind kind = OperationKind::elementwise;
    Phase phase = Phase::forward;
    Part part = Part::compute;
    GroupKind group = GroupKind::none;
    Collective collective = Collective::none;
    std::string name; // "qkv projection", "tp all-gather before attention"
    double m = 0, n = 0, k = 0; // per rank, after sharding
    double batch = 1;
    double bytes = 0; // memory traffic or payload, per rank
    double repeat = 1; // how often this operation runs in its phase (usually layers of the stage)
    bool causal = false; // attention: only half of the square
    bool fp8 = false; // gemm at the fp8 rate
    bool overlappable = false; // may hide behind this stage's compute: see `window`
    bool flash = true; // attention: one fused kernel; false: batched products with the score matrix in memory
    bool in_layer = true; // belongs to the transformer layers (not to embedding, head or host)
    double blocks = 1; // attention: parts of the keys that arrive one after the other (context parallel ring)
    Window window = Window::none; // hidden = min((1 - floor) * time, share * window)
    Constant window_share = Constant::one;
    Constant exposed_floor = Constant::zero;
    Constant efficiency = Constant::stream_efficiency; // elementwise: share of the memory bandwidth
    Constant latency = Constant::collective_latency_s; // collective: alpha per log2(ranks); send_receive: per transfer
    Constant scale = Constant::one; // factor on the time that the formula gives
    HostRule host_rule = HostRule::fixed;
    Constant constant = Constant::zero; // host: its price
    std::string_view note; // why, with the source of the formula: shown in explanations; a literal

    // Floating point operations of one execution: 2 m n k batch for gemm, 4 m k n batch (half if causal) for attention;
    // attention's backward takes 2.5 times as many when fused (scores are computed again), else twice.
    [[nodiscard]] double flops() const;
    bool operator==(const Operation&) const = default;
};

// Something that occupies memory on one GPU of the stage.
enum class MemoryKind { weights, gradients, optimizer, activations, other };
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
