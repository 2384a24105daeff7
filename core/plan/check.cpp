// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/check_rules.h"

#include <algorithm>

namespace fourfold {

void Reasons::add(const char* code, const char* field, const std::string& rule, const Json& nearest)
{
    Reason reason{code, field, rule, nearest.is_null() ? "" : nearest.dump()};
    if (!reason.nearest.empty())
        reason.message += "; use " + (nearest.is_string() ? nearest.get<std::string>() : reason.nearest);
    reasons_.push_back(std::move(reason));
}

Json nearest_value(int value, int limit, const std::function<bool(int)>& valid)
{
    const int from = std::clamp(value, 1, std::max(1, limit));
    for (int distance = 0; distance <= limit; ++distance) {
        if (from - distance >= 1 && valid(from - distance))
            return from - distance;
        if (from + distance <= limit && valid(from + distance))
            return from + distance;
    }
    return nullptr;
}

Json nearest_value(int value, int limit, const std::function<bool(int)>& valid, const std::function<bool(int)>& better)
{
    Json best = nearest_value(value, limit, [&](int candidate) { return valid(candidate) && better(candidate); });
    return best.is_null() ? nearest_value(value, limit, valid) : best;
}

std::vector<Reason> check(const ResolvedPlan& plan)
{
    Reasons reasons;
    check_degrees(plan, reasons);
    check_tensor_parallel(plan, reasons);
    check_sequence(plan, reasons);
    check_experts(plan, reasons);
    check_pipeline(plan, reasons);
    check_batch(plan, reasons);
    check_training(plan, reasons);
    check_optimizer(plan, reasons);
    return reasons.take();
}

} // namespace fourfold
