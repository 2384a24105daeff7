// SPDX-License-Identifier: GPL-3.0-or-later
// Presets and short cuts of the plan tests. The presets are this folder's own: rules are tested on round numbers.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include <string>

namespace fourfold::test {

inline const Presets& presets()
{
    static const Presets kPresets(std::vector<std::filesystem::path>{FOURFOLD_TEST_DATA "/presets"});
    return kPresets;
}

// A plan that passes every rule; tests change single fields of it.
inline Plan base_plan(const std::string& model = "small", const std::string& cluster = "modern", int gpus = 16)
{
    Json document = {{"fourfold_plan", 1}, {"model", model}, {"cluster", cluster}, {"gpus", gpus}};
    Expected<Plan> plan = plan_from_json(document, "test.plan.json");
    if (!plan)
        throw std::runtime_error(plan.error().line());
    return *plan;
}

// The value, or a test failure (as an exception, which GoogleTest reports) with the problem's line.
template <typename T>
T must(Expected<T> result)
{
    if (!result)
        throw std::runtime_error(result.error().line());
    return *std::move(result);
}

inline ResolvedPlan resolved(const Plan& plan)
{
    return must(resolve(plan, presets()));
}

// `changes` as in --set.
inline Plan changed(Plan plan, const std::vector<std::string>& changes)
{
    for (const std::string& change : changes)
        plan = must(with_assignment(plan, change));
    return plan;
}

} // namespace fourfold::test
