// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/own_launches.h"

#include "core/program/allocations.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr Launches kRouting{20, 35}, kExpert{0, 3};

// Of one matrix: with an input of its own, with that of the matrix before it; of the experts together, and of each.
struct Rounding {
    Launches first, other, experts, expert;
};
constexpr Rounding rounding_of(Fp8Recipe recipe)
{
    switch (recipe) {
    case Fp8Recipe::rowwise:
        return {{6, 12}, {3, 12}, {0, 1}, {5, 10}};
    case Fp8Recipe::blockwise:
        return {{7, 17}, {4, 17}, {2.7, 12.3}, {6, 13}};
    case Fp8Recipe::mxfp8:
        return {{12, 26}, {9, 26}, {2.7, 7}, {11, 22}};
    case Fp8Recipe::tensorwise:
        break;
    }
    return {{6, 6}, {3, 6}, {0, 1}, {5, 10}};
}

} // namespace

Launches own_launches(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    Launches sum;
    const auto add = [&](const Launches& each, double times) {
        sum.forward += each.forward * times;
        sum.backward += each.backward * times;
    };
    if (moe) {
        add(kRouting, 1);
        add(kExpert, rank.local_experts);
    }
    if (plan.training.precision != Precision::fp8)
        return sum;
    const Rounding rounding = rounding_of(plan.training.fp8_recipe);
    std::string_view last{};
    for (const Row& row : layer_rows(plan.model, moe)) {
        if (const auto* matrix = std::get_if<MatrixRow>(&row);
            matrix != nullptr && matrix->kind != ParameterKind::router) {
            add(matrix->product != last ? rounding.first : rounding.other, matrix->share);
            last = matrix->product;
        } else if (const auto* experts = std::get_if<ExpertsRow>(&row)) {
            add(rounding.experts, double(experts->each.size()));
            add(rounding.expert, double(experts->each.size()) * rank.local_experts);
        }
    }
    return sum;
}

void add_own_launches(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    double repeated, bool moe)
{
    if (layers <= 0 || !is_our_trainer(rank.constants))
        return;
    const Launches launches = own_launches(plan, rank, moe);
    const auto add = [&](Phase phase, double times, double repeat) {
        if (times * repeat > 0)
            list.push_back({.name = "launches",
                .phase = phase,
                .part = Part::other,
                .repeat = repeat,
                .in_layer = false,
                .note = moe ? "of experts and 8 bits: a layer takes at least the host's time to launch it"
                            : "of 8 bits: a layer takes at least the host's time to launch it",
                .work = HostCost{.rule = HostRule::floor, .constant = Constant::launch_s, .times = times}});
    };
    add(Phase::forward, launches.forward, layers);
    add(Phase::backward, launches.backward, layers);
    if (plan.training.recompute == Recompute::full)
        add(Phase::recompute, launches.forward, std::min(repeated, layers));
}

} // namespace fourfold
