// SPDX-License-Identifier: GPL-3.0-or-later
// What no software can beat: the work of a step at the full rates of the data sheets, with every overlap allowed. No
// fitted constant is in it, and no prediction or search answers with less.
#pragma once

#include "core/cost/context.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace fourfold {

enum class Limit : std::uint8_t { compute, memory, node_links, network };
inline constexpr auto kLimitNames
    = std::to_array<std::string_view>({"compute", "memory", "node_links", "network"}); // in answers
constexpr std::string_view words(Limit limit)
{
    constexpr auto kWords = std::to_array<std::string_view>(
        {"the products at their peak rate", "the memory's bandwidth", "the links inside a node", "the network"});
    return kWords[static_cast<std::size_t>(limit)];
}
inline constexpr std::size_t kLimits = kLimitNames.size();

// Seconds for which each resource of one GPU is busy.
class Usage {
public:
    double& operator[](Limit limit) { return seconds_[static_cast<std::size_t>(limit)]; }
    double operator[](Limit limit) const { return seconds_[static_cast<std::size_t>(limit)]; }
    Usage& add(const Usage& other, double times = 1);
    [[nodiscard]] Limit longest() const;
    [[nodiscard]] double least_s() const { return (*this)[longest()]; } // all at once

private:
    std::array<double, kLimits> seconds_{};
};

// Of an operation with all its repetitions:
// - products and attention at the dense peak of their precision, attention with half of the square;
// - operands and results of products and of fused attention once through memory (norms, activations and casts fused
// into
//   them), gradients, states and weights once through the optimizer;
// - per link what a rank must at least receive: reductions as if the network did them, tokens once for each place that
//   holds some of their experts, a message of a ring over all adapters of its node.
// Selective recomputation counts as none, and hops between stages are left out.
Usage usage_of(const Operation& operation, const CostContext& context);

// Equal neighbouring stages of a pipeline.
struct StageUsage {
    int stages = 1, chunks = 0;
    Usage first_forward, first_backward; // one micro-batch through its first chunk; backward without weight gradients
                                         // where the schedule may do those later
    Usage micro_batch, deferred; // all passes of all its chunks; of them the weight gradients that may be done later
    Usage step; // once a step
};
struct Roofline {
    double step_s = 0;
    Limit limit = Limit::compute;
};
// Adds a chunk's passes, in the order of the model. `defers`: the schedule may do weight gradients later.
void add_chunk(StageUsage& stage, const Usage& forward, const Usage& backward, const Usage& weights, bool defers);
// In the order of the stages' first chunks. A stage can begin when a micro-batch has come through those before its
// first chunk, and what it does last must go back through them.
Roofline roofline(std::span<const StageUsage> stages, double micro_batches);

} // namespace fourfold
