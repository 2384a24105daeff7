// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/predict_batch.h"

#include "app/cli/planning/plan_source.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/base/thrown.h"

namespace fourfold::cli {

namespace {

constexpr std::streamsize kMostSkipped = std::streamsize(1) << 30; // of a line that is too long
constexpr std::size_t kMostLineBytes = 16u << 20; // as of a plan's file

Expected<std::string> answer(const std::string& line, const std::string& where,
    const std::vector<std::string>& assignments, const Presets& presets)
{
    FOURFOLD_TRY(Plan plan, parse_plan(line, where));
    FOURFOLD_TRY(plan, with_assignments(std::move(plan), assignments));
    FOURFOLD_TRY(const ResolvedPlan resolved, resolve(plan, presets));
    return compact(to_json(predict_with_warnings(resolved, plan)));
}

bool is_a_beginning(const std::string& line)
{
    const std::string_view text = trimmed(line, " \t\r");
    return text == "[" || text == "{";
}

} // namespace

Expected<void> predict_batch(
    std::istream& in, std::ostream& out, const std::string& name, const std::vector<std::string>& assignments)
{
    const Presets presets;
    const Problem unwritten{
        ProblemCode::io, "cannot write the answers", "is the disk full or the reader gone?", "standard output"};
    std::string line;
    bool whole = true;
    for (int number = 1; read_line(in, line, kMostLineBytes, whole); ++number) {
        const std::string where = name + ":" + std::to_string(number);
        Expected<std::string> result = Problem{
            ProblemCode::bad_input, "the line is longer than " + std::to_string(kMostLineBytes) + " bytes", "", where};
        if (whole) // whatever a line asks for, those after it are answered
            result = unless_thrown(where, [&] { return answer(line, where, assignments, presets); });
        else if (!in.ignore(kMostSkipped, '\n') || in.gcount() == kMostSkipped) // at the end of the input it is done
            in.setstate(std::ios::eofbit | std::ios::failbit);
        // A plan over many lines, or a list of plans.
        if (!result && number == 1 && whole && is_a_beginning(line))
            result = Problem{ProblemCode::bad_input, "no whole plan, expected one on each line",
                "`jq -c` puts a plan on one line, `jq -c '.[]'` those of a list", where};
        out << (result ? *result : compact(Json{{"error", result.error().line()}})) << '\n';
        // A program at the other end of a pipe may wait for this answer before it asks again.
        if (in.rdbuf()->in_avail() <= 0)
            out.flush();
        if (!out)
            return unwritten;
    }
    if (!out.flush())
        return unwritten;
    if (in.bad())
        return Problem{ProblemCode::io, "cannot read on", "", name};
    return {};
}

} // namespace fourfold::cli
