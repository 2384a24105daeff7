// SPDX-License-Identifier: GPL-3.0-or-later
// From priced operations to the time of a pass and of a step: what hides behind what, launch floors, slowdowns, and
// what waits for what at the end of a step. Predictions and searches add up the same terms by these rules.
#pragma once

#include "core/cost/prices.h"
#include "core/cost/roofline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fourfold {

using PartSeconds = std::array<double, kParts>; // by Part

// One pass of one chunk over one micro-batch: forward, or backward with recomputation and weight gradients.
struct PassTime {
    PartSeconds exposed{}, hidden{};
    double weight_gradient_s = 0; // of seconds(): what a schedule may do later than the input gradient
    double unstretched_s = 0; // before slowdowns that are shares of the pass; memory pressure adds a share of this
    // Of unstretched_s: fixed costs of the host, and products that give weight gradients.
    double fixed_s = 0, weight_products_s = 0;
    double free_window_s = 0; // of the layers: what more communication could hide behind
    Usage usage, weight_usage; // at the full rates; of it, weight gradients
    [[nodiscard]] double seconds() const;
};

struct ChunkTime {
    PassTime forward, backward;
};
// What an operation of a pass takes with all its repetitions, alone.
double seconds_in_pass(const Operation& operation, const CostContext& context);
// Prices the micro-batch operations of a chunk. Hidden communication takes window time once: what one operation used is
// gone for the next.
ChunkTime chunk_time(const ChunkProgram& chunk, const CostContext& context);

// Work of which a part hides behind other work.
struct CoveredWork {
    double seconds = 0, most_hidden = 0; // of it, however much there is to hide behind
    double window_share = 0;
    // What hides of it. Uses up `window`.
    double hide(double& window) const
    {
        const double hidden = std::clamp(std::min(most_hidden, window_share * window), 0.0, seconds);
        window -= hidden;
        return hidden;
    }
    // What is exposed where `hidden` of it is not, and what that costs those that it hides behind.
    [[nodiscard]] double exposed(double hidden, double overlap_slowdown) const
    {
        return seconds - hidden + hidden * overlap_slowdown;
    }
};
CoveredWork covered(const Operation& operation, double seconds, const CostContext& context);

StepWork step_work(const Operation& operation);

struct StepTerm {
    CoveredWork work;
    Window window = Window::none;
    StepWork kind = StepWork::other;
    Part part = Part::other;
    Usage usage = {};
};
std::vector<StepTerm> step_terms(const std::vector<Operation>& step_operations, const CostContext& context);

// A stage in a step: one micro-batch through all its chunks, and what is exposed once a step, by StepWork.
struct StageLoad {
    double forward_s = 0, backward_s = 0;
    std::array<double, kStepWorks> once{};
    [[nodiscard]] double of(StepWork kind) const { return once[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] double period() const { return forward_s + backward_s; }
    [[nodiscard]] double busy(double micro_batches) const;
    // Adds the terms, which hide in the passes: each(term, exposed, hidden).
    template <typename Each>
    void add(std::span<const StepTerm> terms, double overlap_slowdown, Each&& each)
    {
        double forward = forward_s, backward = backward_s, none = 0;
        for (const StepTerm& term : terms) {
            double& window = term.window == Window::forward_pass ? forward
                : term.window == Window::backward_pass           ? backward
                                                                 : none;
            const double hidden = term.work.hide(window);
            const double exposed = term.work.exposed(hidden, overlap_slowdown);
            once[static_cast<std::size_t>(term.kind)] += exposed;
            each(term, exposed, hidden);
        }
    }
};
// The stage with the most work in a step; its period is that of micro-batches that are not simulated.
std::size_t busiest(std::span<const StageLoad> stages, double micro_batches);
// Micro-batches beyond the simulated ones repeat the steady state, one period each. Hops delay it as much as they did
// in the simulated part, which took `length`, and `without_hops` (0: not asked for) were they to take no time.
inline double steady_extension(double micro_batches, double period, double length, double without_hops)
{
    return micro_batches * period * (without_hops > 0 ? length / without_hops : 1);
}

// What follows the last backward.
struct StepEnd {
    double barrier = 0; // gradients of every stage are reduced
    double optimizer = 0, gather = 0, other = 0; // of the slowest stage each
    [[nodiscard]] double end() const { return barrier + optimizer + gather + other; }
};
// Of stages whose passes end at `ends`, and `extension` later.
StepEnd step_end(std::span<const double> ends, std::span<const StageLoad> stages, double extension);

// Of a pass of `unstretched_s`, which slowdowns made `seconds`, what its weight gradients take: they share in the
// slowdowns, but have none of the fixed costs.
double weight_gradient_seconds(double unstretched_s, double fixed_s, double weight_products_s, double seconds);

// (a^p + b^p)^(1/p): about the larger of two times that overlap imperfectly.
double smooth_maximum(double a, double b, double power);

} // namespace fourfold
