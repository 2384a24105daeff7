// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/budget_options.h"

#include "app/view/prediction/whole_training.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace fourfold::cli {

namespace {
// What a plan takes, and what no job ever was.
constexpr double kMostTokens = 1e18, kMost = 1e12;
} // namespace

void BudgetOptions::add_to(CLI::App& command)
{
    const auto add = [&](const char* name, double& value, const char* help, double most = kMost) {
        options_.push_back(command.add_option(name, value, help)->check(number_up_to(most))->type_name("NUMBER"));
    };
    add("--tokens", tokens_, "token budget, e.g. 15e12 (default: the plan's run.tokens, else 20 per parameter)",
        kMostTokens);
    add("--price", price_, "price of one GPU hour, for cost");
    add("--failure-rate", failure_rate_,
        "interruptions per GPU and hour, for goodput (Llama 3 405B on 16,384 GPUs saw 2e-5)");
    add("--mtbf", mtbf_hours_, "instead: mean hours between two interruptions of one GPU");
    add("--node-mtbf", node_mtbf_hours_, "the same of one node, beside those of its GPUs or instead of them");
    add("--storage", storage_gb_s_, "GB/s that the job writes while it saves a checkpoint, for goodput");
    add("--restart", restart_s_, "seconds from an interruption to the first step again (default 600)");
    add("--power", gpu_power_w_, "watts that a GPU draws on average (default: its rated power)");
    add("--facility-factor", facility_factor_, "energy of the site over that of its GPUs (default 1)");
}

bool BudgetOptions::given() const
{
    return std::any_of(options_.begin(), options_.end(), [](const CLI::Option* option) { return option->count() > 0; });
}

Expected<TrainingBudget> BudgetOptions::budget(const Plan& plan, const ResolvedPlan& resolved) const
{
    if (failure_rate_ > 0 && mtbf_hours_ > 0)
        return Problem{ProblemCode::bad_input, "both --failure-rate and --mtbf are given",
            "they say the same: give one of them", "arguments"};
    TrainingBudget budget = budget_of(plan, resolved);
    const auto take = [](double given, double& value) {
        if (given > 0)
            value = given;
    };
    if (tokens_ > 0) {
        budget.tokens = tokens_;
        budget.tokens_from = TokensFrom::person;
    }
    take(price_, budget.price_per_gpu_hour);
    take(failure_rate_, budget.failures_per_gpu_hour);
    take(mtbf_hours_ > 0 ? 1 / mtbf_hours_ : 0, budget.failures_per_gpu_hour);
    take(node_mtbf_hours_ > 0 ? 1 / node_mtbf_hours_ : 0, budget.failures_per_node_hour);
    take(storage_gb_s_, budget.storage_gb_s);
    take(gpu_power_w_, budget.gpu_power_w);
    take(restart_s_, budget.restart_s);
    take(facility_factor_, budget.facility_factor);
    // A plan may know one of the two for later; who types it now wants the goodput.
    const bool asked = failure_rate_ > 0 || mtbf_hours_ > 0 || node_mtbf_hours_ > 0 || storage_gb_s_ > 0;
    if (asked && !missing_for_goodput(budget).empty())
        return Problem{ProblemCode::bad_input,
            std::string("goodput needs ")
                + (budget.knows_failures() ? "--storage too" : "--failure-rate or --mtbf too"),
            budget.knows_failures() ? "GB/s that the job writes while it saves a checkpoint"
                                    : "interruptions per GPU and hour, for example 2e-5",
            "arguments"};
    return budget;
}

std::string economics_text(const Economics& economics)
{
    Table table;
    table.columns = {{"what", " "}, {"value", " "}, {"note", " "}};
    for (const view::TrainingFigure& figure : view::whole_training(economics)) {
        // What nobody asked for is left out; the power of the GPU is a gap of its data sheet.
        if (!figure.known && std::string_view(figure.key) != "energy_mwh")
            continue;
        std::string note = figure.note;
        if (!figure.expected.empty())
            note = figure.expected + " with failures and checkpoints" + (note.empty() ? "" : "; " + note);
        // Words of a command begin small, abbreviations do not.
        std::string title = figure.title;
        if (title.size() > 1 && std::islower(static_cast<unsigned char>(title[1])) != 0)
            title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
        table.rows.push_back({"  " + title, figure.known ? figure.value : "not known", note});
    }
    const std::string text = table.write(TableFormat::text);
    return "\nthe whole training\n" + text.substr(text.find('\n') + 1);
}

} // namespace fourfold::cli
