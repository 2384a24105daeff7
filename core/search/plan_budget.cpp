// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/plan_budget.h"

#include "core/plan/fields.h"

#include <cmath>

namespace fourfold {

TrainingBudget budget_of(const Plan& plan, const ResolvedPlan& resolved)
{
    TrainingBudget budget;
    const auto read = [&](const char* path, double& value) {
        if (const Json& written = value_at(plan.document, path); written.is_number())
            value = written.get<double>();
    };
    budget.tokens = resolved.run.tokens.value_or(chinchilla_tokens(resolved.model));
    budget.tokens_from = resolved.run.tokens ? TokensFrom::plan : TokensFrom::parameters;
    double gpu_hours = TrainingBudget::kUnknown, node_hours = TrainingBudget::kUnknown;
    read("budget.price_per_gpu_hour", budget.price_per_gpu_hour);
    read("budget.gpu_mtbf_hours", gpu_hours);
    read("budget.node_mtbf_hours", node_hours);
    read("budget.storage_gb_s", budget.storage_gb_s);
    read("budget.restart_s", budget.restart_s);
    read("budget.gpu_power_w", budget.gpu_power_w);
    read("budget.facility_factor", budget.facility_factor);
    budget.failures_per_gpu_hour = 1 / gpu_hours; // NaN stays
    budget.failures_per_node_hour = 1 / node_hours;
    return budget;
}

bool has_budget(const Plan& plan)
{
    const Json& written = value_at(plan.document, "budget");
    return written.is_object() && !written.empty();
}

std::string missing_for_goodput(const TrainingBudget& budget)
{
    const bool failures = budget.knows_failures(), storage = !std::isnan(budget.storage_gb_s);
    if (failures == storage)
        return {};
    return failures ? "the speed of the storage" : "how often a GPU or a node fails";
}

} // namespace fourfold
