// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/layout_rules.h"

#include "core/plan/check_rules.h"

namespace fourfold {
LayoutRules::LayoutRules(const ResolvedPlan& base)
    : whole_check_(base.training.recompute_layers.has_value() || base.training.recompute_every > 1
        || base.training.offload_layers.has_value() || base.training.overlap.expert_exchange
        || base.training.overlap.tensor_parallel)
{
}

std::size_t LayoutRules::Hash::operator()(const Key& key) const
{
    std::uint64_t hash = 0;
    for (const int part : key)
        hash = (hash ^ std::uint32_t(part)) * 0x9E3779B97F4A7C15ULL;
    return hash >> 20U;
}

template <typename Rule>
std::string_view LayoutRules::remembered(const Key& key, const ResolvedPlan& plan, Rule&& rule)
{
    const auto [known, fresh] = known_.try_emplace(key);
    if (fresh) {
        Reasons reasons;
        rule(plan, reasons);
        const std::vector<Reason> list = reasons.take();
        known->second = list.empty() ? std::string_view() : kept(list.front().code);
    }
    return known->second;
}

void LayoutRules::set_layout(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    const auto first = [](std::string_view a, std::string_view b) { return a.empty() ? b : a; };
    Reasons of_degrees; // read everything, say little
    check_degrees(plan, of_degrees);
    const std::vector<Reason> degrees = of_degrees.take();
    const std::string_view tensor = remembered({0, layout.tp}, plan, check_tensor_parallel);
    const std::string_view sequence = remembered({1, layout.tp, layout.cp}, plan, check_sequence);
    // Says of dense models only that they have no experts; which etp they may have is known by tp.
    const int etp_limit = plan.model.experts ? layout.tp * layout.cp * layout.dp : layout.tp;
    const std::string_view experts = remembered({2, etp_limit, layout.ep, layout.etp}, plan, check_experts);
    const std::string_view pipeline
        = remembered({3, layout.pp, layout.virtual_stages, int(training.schedule)}, plan, check_pipeline);
    before_batch_ = degrees.empty() ? first(first(first(tensor, sequence), experts), pipeline) : kept(degrees[0].code);
    after_batch_
        = remembered({4, layout.pp, int(training.sharding)}, plan, [](const ResolvedPlan& of, Reasons& reasons) {
              check_training(of, reasons);
              check_optimizer(of, reasons);
          });
}

std::string_view LayoutRules::broken(const ResolvedPlan& plan)
{
    if (whole_check_) {
        const std::vector<Reason> reasons = check(plan);
        return reasons.empty() ? std::string_view() : kept(reasons.front().code);
    }
    if (!before_batch_.empty())
        return before_batch_;
    if (const BatchRule rule = broken_batch_rule(plan); rule != BatchRule::none)
        return code_of(rule);
    return after_batch_;
}

} // namespace fourfold
