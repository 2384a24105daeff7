// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/budget_options.h"

#include "app/cli/text/predict_text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::cli {

namespace {

// What a plan takes, and what no job ever was.
constexpr double kMostTokens = 1e18, kMost = 1e12;

std::string billions(double count)
{
    return count >= 1e12 ? shown_number(count / 1e12) + " trillion" : shown_number(count / 1e9) + " billion";
}

} // namespace

void BudgetOptions::add_to(CLI::App& command)
{
    const auto add = [&](const char* name, double& value, const char* help, double most = kMost) {
        options_.push_back(command.add_option(name, value, help)->check(number_up_to(most))->type_name("NUMBER"));
    };
    add("--tokens", tokens, "token budget, e.g. 15e12 (default: 20 per parameter)", kMostTokens);
    add("--price", price, "price of one GPU hour, for cost");
    add("--failure-rate", failure_rate,
        "interruptions per GPU and hour, for goodput (Llama 3 405B on 16,384 GPUs saw 2e-5)");
    add("--mtbf", mtbf_hours, "instead: mean hours between two interruptions of one GPU");
    add("--storage", storage_gb_s, "GB/s that the job writes while it saves a checkpoint, for goodput");
    add("--restart", restart_s, "seconds from an interruption to the first step again (default 600)");
    add("--facility-factor", facility_factor, "energy of the site over that of its GPUs (default 1)");
}

bool BudgetOptions::given() const
{
    return std::any_of(options_.begin(), options_.end(), [](const CLI::Option* option) { return option->count() > 0; });
}

Expected<TrainingBudget> BudgetOptions::budget(const ModelShape& model) const
{
    if (failure_rate > 0 && mtbf_hours > 0)
        return Problem{ProblemCode::bad_input, "both --failure-rate and --mtbf are given",
            "they say the same: give one of them", "arguments"};
    TrainingBudget budget;
    budget.tokens = tokens > 0 ? tokens : chinchilla_tokens(model);
    budget.price_per_gpu_hour = price > 0 ? price : TrainingBudget::kUnknown;
    if (failure_rate > 0)
        budget.failures_per_gpu_hour = failure_rate;
    if (mtbf_hours > 0)
        budget.failures_per_gpu_hour = 1 / mtbf_hours;
    if (storage_gb_s > 0)
        budget.storage_gb_s = storage_gb_s;
    const bool failures = !std::isnan(budget.failures_per_gpu_hour), storage = !std::isnan(budget.storage_gb_s);
    if (failures != storage)
        return Problem{ProblemCode::bad_input,
            std::string("goodput needs ") + (failures ? "--storage too" : "--failure-rate or --mtbf too"),
            failures ? "GB/s that the job writes while it saves a checkpoint"
                     : "interruptions per GPU and hour, for example 2e-5",
            "arguments"};
    budget.restart_s = restart_s;
    budget.facility_factor = facility_factor;
    return budget;
}

std::string economics_text(const Economics& economics)
{
    Table table;
    table.columns = {{"what", " "}, {"value", " "}, {"note", " "}};
    const auto add = [&](const char* what, const std::string& value, const std::string& note) {
        table.rows.push_back({std::string("  ") + what, value, note});
    };
    const bool cost = !std::isnan(economics.cost), failures = !std::isnan(economics.goodput);
    const bool ends = std::isfinite(economics.expected_days); // else it fails again before it has made up for a failure
    const auto with_failures
        = [&](const std::string& figure) { return failures && ends ? figure + " with failures and checkpoints" : ""; };
    add("tokens", billions(economics.tokens), shown_number(economics.steps, 0) + " steps of a full batch");
    add("time", shown_number(economics.days) + " days",
        !failures  ? "without failures"
            : ends ? with_failures(shown_number(economics.expected_days) + " days")
                   : "never ends: it fails more often than it saves");
    add("GPU hours", shown_number(economics.gpu_hours, 0),
        with_failures(shown_number(economics.expected_gpu_hours, 0)));
    if (std::isnan(economics.energy_mwh))
        add("energy", "not known", "the rated power of the GPU is not");
    else
        add("energy", shown_number(economics.energy_mwh) + " MWh", "GPUs at their rated power");
    if (cost)
        add("cost", shown_number(economics.cost, 0), with_failures(shown_number(economics.expected_cost, 0)));
    if (failures) {
        add("goodput", shown_number(100 * economics.goodput, 1) + " %",
            (ends ? shown_number(economics.failures) + " failures, one in " : "a failure in ")
                + shown_number(economics.mtbf_hours) + " hours");
        add("checkpoint", shown_number(economics.checkpoint_bytes / 1e9) + " GB",
            "written in " + duration_text(economics.checkpoint_s) + ", every "
                + shown_number(economics.interval_steps, 0) + " steps = " + duration_text(economics.interval_s)
                + " (Daly 2006; Young 1974: " + duration_text(economics.young_s) + ")");
    }
    const std::string text = table.write(TableFormat::text);
    return "\nthe whole training\n" + text.substr(text.find('\n') + 1);
}

} // namespace fourfold::cli
