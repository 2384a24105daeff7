// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"
#include "core/calibration/user/calibrate.h"
#include "core/cost/context.h"

#include <cmath>

namespace fourfold {
namespace {

std::string full_name(const ConstantEstimate& constant, bool with_gpu)
{
    return with_gpu && !constant.gpu.empty() ? constant.name + " (" + constant.gpu + ")" : constant.name;
}

// "± 3 %", of a linear constant "± 0.02".
std::string width_of(double width, bool linear)
{
    return linear ? text_of("± %.2g", width) : text_of("± %.0f %%", 100 * std::expm1(width));
}

void add_error(
    std::string& text, const char* what, double before, double after, const std::optional<double>& left_out, int rows)
{
    text += text_of("  %-10s %5.1f %% -> %5.1f %%", what, 100 * before, 100 * after);
    if (left_out)
        text += text_of("   left out %5.1f %%", 100 * *left_out);
    text += text_of("   %d run%s\n", rows, rows == 1 ? "" : "s");
}

void add_list(std::string& text, const char* title, const std::vector<ConstantEstimate>& constants, bool with_gpu)
{
    if (constants.empty())
        return;
    std::vector<std::string> names;
    for (const ConstantEstimate& constant : constants)
        names.push_back(full_name(constant, with_gpu));
    text += std::string(title) + joined(names, ", ") + "\n";
}

Json to_json(const FitError& error)
{
    const auto number = [](double value, int rows) { return rows > 0 ? Json(value) : Json(); };
    return {{"time_rows", error.time_rows}, {"time_error", number(error.time, error.time_rows)},
        {"time_bias", number(error.time_bias, error.time_rows)}, {"memory_rows", error.memory_rows},
        {"memory_error", number(error.memory, error.memory_rows)},
        {"memory_error_gib", number(error.memory_gib, error.memory_rows)}, {"cells", error.cells},
        {"fit_verdicts_right", error.right}};
}

} // namespace

std::string to_text(const Calibration& calibration)
{
    const FitResult& fit = calibration.fit;
    const FitError &before = fit.before, &after = fit.after;
    const bool with_gpu = calibration.gpus.size() > 1;
    const auto left_out = [&](double FitError::*error) {
        return calibration.left_out ? std::optional<double>(*calibration.left_out.*error) : std::nullopt;
    };
    std::string text
        = (calibration.cluster ? "cluster " + *calibration.cluster + " with stack " : std::string("stack "))
        + calibration.stack + (calibration.release.empty() ? "" : "@" + calibration.release) + " on "
        + joined(calibration.gpus, ", ") + ", from " + calibration.source + "\n\n";
    text += "mean error   before      after\n";
    if (after.time_rows > 0)
        add_error(text, "step time", before.time, after.time, left_out(&FitError::time), after.time_rows);
    if (after.memory_rows > 0)
        add_error(text, "memory", before.memory, after.memory, left_out(&FitError::memory), after.memory_rows);
    text
        += text_of("  fits or not: %d of %d right -> %d of %d\n", before.right, before.cells, after.right, after.cells);
    if (fit.unusable_rows > 0)
        text += text_of("  %d row%s could not be used: the plan breaks a rule\n", fit.unusable_rows,
            fit.unusable_rows == 1 ? "" : "s");
    if (calibration.known_rows > 0)
        text += text_of("  %d row%s not counted again: given twice, or the preset was fitted to %s before\n",
            calibration.known_rows, calibration.known_rows == 1 ? "" : "s",
            calibration.known_rows == 1 ? "it" : "them");
    if (calibration.other_rows > 0)
        text += text_of(
            "  %d row%s of other releases left out\n", calibration.other_rows, calibration.other_rows == 1 ? "" : "s");
    if (calibration.left_out)
        text += "  left out: each run predicted by a fit that did not see it\n";
    else
        text += "  too few runs to leave one out: the error after is that of the runs fitted\n";
    if (fit.time_rows > 0 && fit.time_share == 0)
        text += text_of(
            "  the run%s no further off than runs of one kind scatter (%.1f %%): no constant of time moves\n",
            fit.time_rows == 1 ? " is" : "s are", 100 * std::expm1(fit.scatter));
    else if (fit.time_rows > 0 && fit.time_share < 0.95)
        text += text_of("  runs of one kind scatter by %.1f %%: %.0f %% of the difference was taken over\n",
            100 * std::expm1(fit.scatter), 100 * fit.time_share);
    if (!calibration.release.empty())
        text += "  release " + calibration.release + " alone: the stack's other releases keep their constants\n";
    const auto moved = calibration.moved();
    text += moved.empty() ? "\nno constant moved\n" : "\nmoved\n";
    for (const ConstantEstimate& constant : moved)
        text += text_of("  %-34s %10.4g -> %-10.4g %s%s\n", full_name(constant, with_gpu).c_str(), constant.before,
            constant.value, width_of(constant.posterior_width, constant.linear).c_str(),
            constant.at_bound ? ", at its bound" : "");
    add_list(text, "\nnot determined (too few runs, or runs too much alike; they stay near their priors): ",
        calibration.undetermined(), with_gpu);
    add_list(text, "no run depends on them (unchanged): ", calibration.unseen(), with_gpu);
    return text;
}

Json to_json(const Calibration& calibration)
{
    Json json
        = {{"stack", calibration.stack}, {"release", calibration.release.empty() ? Json() : Json(calibration.release)},
            {"cluster", calibration.cluster ? Json(*calibration.cluster) : Json()}, {"gpus", calibration.gpus},
            {"source", calibration.source}, {"date", calibration.date}, {"before", to_json(calibration.fit.before)},
            {"after", to_json(calibration.fit.after)},
            {"left_out", calibration.left_out ? to_json(*calibration.left_out) : Json()},
            {"time_share", calibration.fit.time_share}, {"scatter", calibration.fit.scatter},
            {"unusable_rows", calibration.fit.unusable_rows}, {"known_rows", calibration.known_rows},
            {"other_rows", calibration.other_rows}, {"converged", calibration.fit.converged}};
    json["constants"] = Json::array();
    for (const ConstantEstimate& constant : calibration.fit.constants)
        json["constants"].push_back(
            {{"name", constant.name}, {"gpu", constant.gpu.empty() ? Json() : Json(constant.gpu)},
                {"of", constant.quantity == Quantity::time ? "time" : "memory"}, {"before", constant.before},
                {"value", constant.value}, {"prior", constant.prior}, {"prior_width", constant.prior_width},
                {"posterior_width", constant.posterior_width}, {"linear", constant.linear}, {"moved", constant.moved()},
                {"determined", constant.determined()}, {"seen", constant.influences}, {"at_bound", constant.at_bound}});
    return json;
}

} // namespace fourfold
