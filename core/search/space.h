// SPDX-License-Identifier: GPL-3.0-or-later
// What a search tries: the values of each axis, and every combination of them that makes a layout.
#pragma once

#include "core/search/candidate.h"

#include <functional>

namespace fourfold {

// Values to try, each list ascending and without duplicates. Degrees are what a person allows; of these, enumeration
// takes the ones that multiply to the number of GPUs and keep the rules of core/plan/check_rules.h.
struct SearchSpace {
    std::vector<int> gpus;
    std::vector<int> tp, cp, pp, ep, virtual_stages, micro_batch;
    std::vector<Sharding> sharding;
    std::vector<Recompute> recompute;
    std::vector<Schedule> schedule;
    std::vector<std::array<Dimension, 4>> orders;
    // The global batch may be rounded to the nearest multiple of dp x micro_batch (x pp, where the schedule asks) that
    // lies within this share of the plan's: 0 = as the plan says.
    double batch_tolerance = 0;

    // Combinations of all axes, before any rule: the size of what is searched, at most.
    [[nodiscard]] double combinations() const;
};

// Calls visit(tp, cp, pp, dp) for every mesh of `gpus` GPUs.
template <typename Visit>
void for_each_mesh(const SearchSpace& space, int gpus, Visit&& visit)
{
    for (const int tp : space.tp) {
        if (gpus % tp != 0)
            continue;
        for (const int cp : space.cp) {
            if (gpus / tp % cp != 0)
                continue;
            for (const int pp : space.pp) {
                if (gpus / tp / cp % pp == 0)
                    visit(tp, cp, pp, gpus / tp / cp / pp);
            }
        }
    }
}

// The usual axes for a plan: GPUs as given; TP up to the attention heads, CP up to 64, PP up to the layers, EP over the
// divisors of the experts, micro-batches of 1, 2, 4, 8 and 16, one to eight virtual stages, sharding none, optimizer
// and parameters, every recomputation, schedules 1f1b and interleaved, the plan's order; and what else the plan has
// itself. What the plan's stack cannot do is left out by the rules.
SearchSpace default_space(const ResolvedPlan& plan, std::vector<int> gpus);

// GPU counts up to `most`: whole nodes, and the divisors of one node below that.
std::vector<int> gpu_counts(const Cluster& cluster, int most);

// Micro-batches of a step, at least one.
int micro_batches_of(int global_batch, int micro_batch, int dp);

// "tp=1,2,4", "recompute=none,full", "order=tp-cp-pp-dp": replaces one axis. `where` starts messages.
Expected<void> set_axis(SearchSpace& space, const std::string& assignment, const std::string& where);
// The names that set_axis takes.
std::vector<std::string> axis_names();
std::string order_text(const std::array<Dimension, 4>& order); // "tp-cp-pp-dp"

// The plan with a candidate's values, and everything that follows from them: dp_shard, layers of stages, padded
// vocabulary, micro-batches. `plan` must have the model, cluster and stack of the search; all else is overwritten, so
// that one plan serves many candidates.
void place(const Candidate& candidate, const SearchSpace& space, const ResolvedPlan& base, ResolvedPlan& plan);
// The same where `plan` holds a candidate on the same mesh; with the same sharding and virtual stages.
void place_stages(const Candidate& candidate, const ResolvedPlan& base, ResolvedPlan& plan);
void place_batch(const Candidate& candidate, const ResolvedPlan& base, ResolvedPlan& plan);

} // namespace fourfold
