// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/objective.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold {
namespace {

constexpr std::array<std::string_view, 5> kMaximized{
    "tps_per_gpu", "tokens_per_second", "tflops_per_gpu", "mfu", "goodput"};
constexpr std::array<std::string_view, 12> kMinimized{"step_time", "step_time_s", "memory", "memory_gib",
    "memory_device_gib", "gpus", "days", "gpu_hours", "cost", "energy_mwh", "expected_days", "expected_cost"};

bool contains(std::span<const std::string_view> list, std::string_view word)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

} // namespace

bool Objective::better(double a, double b) const
{
    if (std::isnan(a) || std::isnan(b))
        return !std::isnan(a);
    return maximize ? a > b : a < b;
}

Expected<Objective> parse_objective(const std::string& text, const std::string& where, ExpressionError* error)
{
    Objective objective;
    std::string body = text;
    const bool written_max = text.starts_with("max ");
    if (written_max || text.starts_with("min ")) {
        objective.maximize = written_max;
        body = text.substr(4);
    } else if (contains(kMaximized, text)) {
        objective.maximize = true;
    } else if (!contains(kMinimized, text)) {
        std::vector<std::string> names(kMinimized.begin(), kMinimized.end());
        names.insert(names.end(), kMaximized.begin(), kMaximized.end());
        const auto near = nearest_words(text, names, 1);
        if (error)
            *error = {0, text.size(), "no objective has this name", ""};
        return Problem{ProblemCode::bad_input,
            "found " + in_quotes(text) + ", expected one of " + joined(names, ", ")
                + ", or min or max and an expression",
            near.empty() ? "" : "did you mean " + near.front() + "?", where};
    }
    objective.monotone = body.size() == text.size(); // every named figure is
    auto expression = parse_expression(body, ValueKind::number, plan_field_set(), where, error);
    if (!expression) {
        if (error)
            error->position += text.size() - body.size();
        return expression.error();
    }
    objective.expression = *std::move(expression);
    return objective;
}

} // namespace fourfold
