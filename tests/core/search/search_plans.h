// SPDX-License-Identifier: GPL-3.0-or-later
// Plans and requests that the search's tests start from, with the presets that ship.
#pragma once

#include "core/plan/presets.h"
#include "core/search/search.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fourfold {

inline ResolvedPlan search_plan(const std::string& model, const std::string& cluster, int gpus, int global_batch,
    const std::string& stack = "generic")
{
    static const Presets presets;
    const Json document{{"model", model}, {"cluster", cluster}, {"gpus", gpus}, {"stack", stack},
        {"training", {{"global_batch", global_batch}}}};
    const auto plan = plan_from_json(document, "search test");
    if (!plan)
        throw std::runtime_error(plan.error().line());
    const auto resolved = resolve(*plan, presets);
    if (!resolved)
        throw std::runtime_error(resolved.error().line());
    return *resolved;
}

inline Expression constraint(const std::string& text)
{
    auto expression = parse_expression(text, ValueKind::truth, plan_field_set(), "test");
    if (!expression)
        throw std::runtime_error(expression.error().line());
    return *expression;
}

inline Objective objective(const std::string& text)
{
    auto parsed = parse_objective(text, "test");
    if (!parsed)
        throw std::runtime_error(parsed.error().line());
    return *parsed;
}

// A space small enough to be walked by hand: Llama 3.1 8B on one or two nodes.
inline SearchRequest small_request()
{
    SearchRequest request;
    request.plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    request.space = default_space(request.plan, {8, 16});
    request.space.cp = {1, 2};
    request.space.pp = {1, 2, 4};
    request.space.virtual_stages = {1, 2};
    request.space.micro_batch = {1, 8};
    request.space.recompute = {Recompute::none, Recompute::full};
    request.objective = objective("tps_per_gpu");
    request.budget = {1e12, 2};
    request.top = 7;
    return request;
}

} // namespace fourfold
