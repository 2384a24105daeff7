// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/predict_batch.h"

#include "app/cli/plan_source.h"

namespace fourfold::cli {

namespace {

Expected<Json> answer(const std::string& line, const std::string& where, const std::vector<std::string>& assignments,
    const Presets& presets)
{
    FOURFOLD_TRY(Plan plan, parse_plan(line, where));
    FOURFOLD_TRY(plan, with_assignments(std::move(plan), assignments));
    FOURFOLD_TRY(const ResolvedPlan resolved, resolve(plan, presets));
    return to_json(predict_with_warnings(resolved, plan));
}

} // namespace

Expected<void> predict_batch(
    std::istream& in, std::ostream& out, const std::string& name, const std::vector<std::string>& assignments)
{
    const Presets presets;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        const auto result = answer(line, name + ":" + std::to_string(number), assignments, presets);
        out << compact(result ? *result : Json{{"error", result.error().line()}}) << '\n';
        // A program at the other end of a pipe may wait for this answer before it asks again.
        if (in.rdbuf()->in_avail() <= 0)
            out.flush();
        if (!out)
            return Problem{
                ProblemCode::io, "cannot write the answers", "is the disk full or the reader gone?", "standard output"};
    }
    out.flush();
    if (in.bad())
        return Problem{ProblemCode::io, "cannot read on", "", name};
    return {};
}

} // namespace fourfold::cli
