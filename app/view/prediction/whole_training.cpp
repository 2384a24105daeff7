// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/whole_training.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/plan/fields.h"

#include <charconv>
#include <cmath>

namespace fourfold::view {

namespace {
std::string tokens_note(const Economics& economics)
{
    const std::string steps = shown_number(economics.steps, 0) + " steps of a full batch";
    switch (economics.tokens_from) {
    case TokensFrom::plan:
        return steps + "; run.tokens of the plan";
    case TokensFrom::parameters:
        return steps + "; " + shown_number(kTokensPerParameter, 0) + " per parameter, as none is given";
    case TokensFrom::person:
        break;
    }
    return steps;
}

std::string seconds_text(double seconds)
{
    return seconds < 120 ? duration(seconds) : rough_duration(seconds);
}

// What a goodput needs, in the words of those who are asked for it.
std::string needs_of_goodput(const Economics& economics)
{
    const bool failures = !std::isnan(economics.mtbf_hours), storage = !std::isnan(economics.checkpoint_s);
    if (failures == storage)
        return "not known without failures (of a GPU or a node) and the speed of the storage";
    return failures ? "not known without the speed of the storage" : "not known without failures (of a GPU or a node)";
}

std::string written_number(double value)
{
    const bool whole = value == std::round(value) && std::abs(value) < 1e15;
    return whole ? grouped(value) : text_of("%.15g", value);
}
} // namespace

std::vector<TrainingFigure> whole_training(const Economics& economics)
{
    const bool failures = !std::isnan(economics.goodput);
    const bool ends = std::isfinite(economics.expected_days); // else it fails again before it has made up for a failure
    const std::string never = "never ends: it fails more often than it saves";
    std::vector<TrainingFigure> figures;
    const auto add
        = [&](const char* key, const char* expected_key, const char* title, double value, const std::string& text,
              double expected, const std::string& expected_text, const std::string& note) {
              const bool known = std::isfinite(value);
              figures.push_back({key, expected_key, title, known ? text : kUnknown,
                  known && std::isfinite(expected) ? expected_text : "", note, known});
          };
    const double none = TrainingBudget::kUnknown;
    add("tokens", "", "Tokens", economics.tokens, compact(economics.tokens), none, "", tokens_note(economics));
    add("days", "expected_days", "Time", economics.days, shown_number(economics.days) + " days",
        economics.expected_days, shown_number(economics.expected_days) + " days",
        !failures  ? "without failures"
            : ends ? ""
                   : never);
    add("gpu_hours", "expected_gpu_hours", "GPU hours", economics.gpu_hours, shown_number(economics.gpu_hours, 0),
        economics.expected_gpu_hours, shown_number(economics.expected_gpu_hours, 0), "");
    add("cost", "expected_cost", "Cost", economics.cost, shown_number(economics.cost, 0), economics.expected_cost,
        shown_number(economics.expected_cost, 0),
        std::isnan(economics.cost) ? "not known without the price of a GPU hour" : "");
    add("energy_mwh", "expected_energy_mwh", "Energy", economics.energy_mwh,
        shown_number(economics.energy_mwh) + " MWh", economics.expected_energy_mwh,
        shown_number(economics.expected_energy_mwh) + " MWh",
        std::isnan(economics.energy_mwh) ? "not known: the rated power of the GPU is not" : "");
    add("goodput", "", "Goodput", economics.goodput, percent(economics.goodput) + " %", none, "",
        !failures ? needs_of_goodput(economics)
                  : (ends ? shown_number(economics.failures) + " interruptions, one in " : "an interruption in ")
                + shown_number(economics.mtbf_hours) + " hours");
    add("checkpoint_interval_s", "", "Checkpoint", economics.interval_s, "every " + seconds_text(economics.interval_s),
        none, "",
        !std::isfinite(economics.interval_s)
            ? shown_number(economics.checkpoint_bytes / 1e9) + " GB; " + needs_of_goodput(economics)
            : shown_number(economics.interval_steps, 0) + " steps; " + shown_number(economics.checkpoint_bytes / 1e9)
                + " GB, written in " + seconds_text(economics.checkpoint_s)
                + " (Daly 2006; Young 1974: " + seconds_text(economics.young_s) + ")");
    return figures;
}

std::vector<TrainingFigure> whole_training(const Prediction& prediction, const TrainingBudget& budget)
{
    if (!prediction.step_time_s)
        return {};
    return whole_training(economics_of(prediction.plan, *prediction.step_time_s, budget));
}

Table whole_training_table(const std::vector<TrainingFigure>& figures)
{
    Table table;
    table.columns
        = {{"figure", "figure"}, {"value", "nothing fails"}, {"expected", "with failures"}, {"note", "basis"}};
    for (const TrainingFigure& figure : figures)
        table.rows.push_back({figure.title, figure.value, figure.expected, figure.note});
    return table;
}

std::string whole_training_line(const std::vector<TrainingFigure>& figures)
{
    std::vector<std::string> words;
    for (const TrainingFigure& figure : figures) {
        if (!figure.known || figure.expected_key[0] == '\0')
            continue;
        words.push_back(figure.title + " " + figure.value
            + (figure.expected.empty() ? "" : " (" + figure.expected + " with failures)"));
    }
    return joined(words, ", ");
}

std::string budget_line(const TrainingBudget& budget)
{
    std::string line = compact(budget.tokens) + " tokens";
    if (budget.tokens_from == TokensFrom::parameters)
        line += ", " + shown_number(kTokensPerParameter, 0) + " per parameter";
    if (!std::isnan(budget.price_per_gpu_hour))
        line += "; " + significant(budget.price_per_gpu_hour) + " per GPU hour";
    const bool failures = budget.knows_failures() && !std::isnan(budget.storage_gb_s);
    return line + (failures ? "; with failures and checkpoints" : "; failures not counted");
}

std::vector<TrainingInput> training_inputs(const Plan& plan, const ResolvedPlan& resolved)
{
    std::vector<TrainingInput> inputs;
    const auto add = [&](const char* path, const char* label, const char* unit, const std::string& otherwise,
                         const char* help) {
        const Json& written = value_at(plan.document, path);
        inputs.push_back(
            {path, label, unit, written.is_number() ? written_number(written.get<double>()) : "", otherwise, help});
    };
    const TrainingBudget usual;
    add("run.tokens", "Tokens", "",
        shown_number(kTokensPerParameter, 0) + " per parameter: " + compact(chinchilla_tokens(resolved.model)),
        "In total; also how long a run of this plan is, unless run.steps says. 15 T, 15e12");
    add("budget.price_per_gpu_hour", "Price", "per GPU hour", "not known", "Of one GPU and hour, in any currency");
    add("budget.gpu_mtbf_hours", "MTBF of a GPU", "h", "not known",
        "Mean hours between two interruptions of the run by one GPU. Llama 3 405B, of all causes: 419 on 16,384 GPUs "
        "in "
        "54 days, one in 50,000 hours (arXiv:2407.21783, section 3.3.4)");
    add("budget.node_mtbf_hours", "MTBF of a node", "h", "not known",
        "The same of one node, beside its GPUs or instead of them");
    add("budget.storage_gb_s", "Storage", "GB/s", "not known", "What the whole job writes while it saves a checkpoint");
    add("budget.restart_s", "Restart", "s", shown_number(usual.restart_s, 0),
        "From an interruption to the first step again: noticed, restarted, checkpoint loaded");
    add("budget.gpu_power_w", "Power of a GPU", "W",
        resolved.cluster.gpu.power_w > 0 ? "rated: " + grouped(resolved.cluster.gpu.power_w) : "not known",
        "What a GPU draws on average");
    add("budget.facility_factor", "Site over GPUs", "x", shown_number(usual.facility_factor, 0),
        "Energy of the site over that of its GPUs: hosts, network, cooling");
    return inputs;
}

Expected<Json> training_value(const std::string& path, const std::string& text)
{
    std::string digits;
    for (const char c : text) {
        if (c != ',' && c != ' ' && c != '_')
            digits += c;
    }
    if (digits.empty())
        return Json();
    double factor = 1;
    constexpr std::pair<char, double> kSuffixes[]{{'k', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}};
    for (const auto& [letter, times] : kSuffixes) {
        if (digits.back() == letter) {
            factor = times;
            digits.pop_back();
            break;
        }
    }
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
        return Problem{ProblemCode::bad_input,
            "found " + in_quotes(text) + ", expected a number such as 2.5, 15e12 or 15 T", "", path};
    value *= factor;
    Json object = Json::object();
    set_value_at(object, path, value);
    FOURFOLD_CHECK(check_ranges(object, "", "", ""));
    return Json(value);
}

} // namespace fourfold::view
