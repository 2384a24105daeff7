// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/plan_source.h"

#include "app/cli/planning/hidden_presets.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/calibration/user/own_runs_missing.h"
#include "core/plan/fields.h"
#include "core/plan/plan_schedule.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace fourfold::cli {

namespace {

constexpr std::size_t kLongestShown = 400; // of a name
constexpr std::size_t kMostUnknown = 20; // keys that are named

bool looks_like_file(const std::string& name)
{
    return name.find('/') != std::string::npos || name.ends_with(".json") || name == "-";
}

// Calls change(file name) for each file that the document names in the field or below it ("run.data" holds
// run.data[].path). A schedule is a file where it is no word.
void for_each_file_name(Json& document, const std::string& field, const std::function<void(Json&)>& change)
{
    const auto touched = [&field](const std::string& path) { return path == field || path.starts_with(field + '.'); };
    const auto visit = [&](const std::string& pointer, const std::string& path) {
        const Json::json_pointer at(pointer);
        if (touched(path) && document.contains(at) && document[at].is_string() && document[at] != "")
            change(document[at]);
    };
    if (document.value(Json::json_pointer("/training/schedule"), Json()).dump().ends_with(".csv\""))
        visit("/training/schedule", "training.schedule");
    for (const auto& [pointer, path] :
        {std::pair{"/run/data", "run.data."}, std::pair{"/run/eval/data", "run.eval.data."}}) {
        const Json sources = document.value(Json::json_pointer(pointer), Json());
        for (std::size_t i = 0; i < sources.size(); ++i) {
            const std::string index = std::to_string(i);
            visit(pointer + ("/" + index) + "/path", path + index + ".path");
        }
    }
}

// A plan's files lie beside it, or came with the program; one that is named on the command line lies where the user
// is, or came with the program.
void name_from_here(Json& name)
{
    const std::filesystem::path file = name.get<std::string>();
    const auto exists_in = [&file](const std::filesystem::path& folder) {
        std::error_code error;
        return std::filesystem::is_regular_file(folder / file, error);
    };
    const auto shipped = resource_folders();
    if (exists_in("") || std::none_of(shipped.begin(), shipped.end(), exists_in))
        name = std::filesystem::absolute(file).lexically_normal().string();
}

} // namespace

void PlanOptions::add_to(CLI::App& command, bool required)
{
    command.add_option("PLAN", plan, "plan file, or id of a plan preset")->required(required);
    command.add_option("--set", assignments, "change a field, as in layout.tp=4; may be repeated")
        ->type_name("FIELD=VALUE")
        ->allow_extra_args(false); // what follows is no second one: it may be the plan
}

Expected<Plan> with_assignments(Plan plan, const std::vector<std::string>& assignments)
{
    for (const std::string& assignment : assignments) {
        FOURFOLD_TRY(plan, with_assignment(plan, assignment));
        for_each_file_name(plan.document, assignment.substr(0, assignment.find('=')), name_from_here);
    }
    return plan;
}

Expected<std::filesystem::path> PlanOptions::file(const Presets& presets) const
{
    std::error_code error;
    std::filesystem::path file = plan;
    if (!std::filesystem::exists(file, error) && !looks_like_file(plan)) {
        auto preset = presets.file("plans", plan);
        if (!preset) {
            Problem problem = std::move(preset).error();
            problem.message = "there is no file and no plan preset of this name";
            problem.where = printable(plan, kLongestShown);
            return problem;
        }
        file = *preset;
    }
    return file;
}

Expected<Plan> PlanOptions::load(const Presets& presets) const
{
    FOURFOLD_TRY(const std::filesystem::path file, this->file(presets));
    FOURFOLD_TRY(Plan read, read_plan(file));
    return with_assignments(std::move(read), assignments);
}

std::vector<std::string> unknown_key_warnings(const Plan& plan)
{
    std::vector<std::string> known, warnings;
    for (const Field& field : plan_fields())
        known.push_back(field.path);
    for (const std::string& key : plan.unknown_keys) {
        if (warnings.size() == kMostUnknown && plan.unknown_keys.size() > kMostUnknown + 1) {
            warnings.push_back(
                std::to_string(plan.unknown_keys.size() - kMostUnknown) + " further unknown keys, ignored");
            break;
        }
        if (key.find('"') != std::string::npos) { // quoted, as no path of a field looks like it
            warnings.push_back(
                key + R"(: unknown key, ignored (objects stand in objects, as in {"layout": {"tp": 2}}))");
            continue;
        }
        const auto near = nearest_words(key, known, 1);
        warnings.push_back(key + ": unknown key, ignored" + (near.empty() ? "" : " (did you mean " + near[0] + "?)"));
    }
    return warnings;
}

Expected<Evaluated> evaluate(const Plan& plan, const Presets& presets)
{
    FOURFOLD_TRY(ResolvedPlan resolved, resolve(plan, presets));
    for (const std::string& warning : unknown_key_warnings(plan))
        warn(plan.where + ": " + warning);
    std::vector<Reason> broken = check(resolved);
    if (broken.empty()) {
        if (auto file = broken_schedule_file(resolved))
            broken.push_back(std::move(*file));
    }
    return Evaluated{std::move(resolved), std::move(broken)};
}

Expected<ResolvedPlan> PlanOptions::load_sound(const Presets& presets) const
{
    FOURFOLD_TRY(const Plan written, load(presets));
    FOURFOLD_TRY(Evaluated evaluated, evaluate(written, presets));
    if (!evaluated.broken_rules.empty())
        return problem_of(evaluated.broken_rules.front(), written.where);
    return std::move(evaluated.resolved);
}

Problem problem_of(const Reason& reason, const std::string& where)
{
    return {ProblemCode::bad_input, reason.message, "", where + ": " + reason.field};
}

void warn_of_missing_runs()
{
    if (const auto missing = own_runs_missing())
        warn(*missing);
}

Prediction predict_with_warnings(const ResolvedPlan& resolved, const Plan& plan)
{
    Prediction prediction = predict_with_evidence(resolved);
    std::vector<std::string> warnings = unknown_key_warnings(plan);
    if (auto hidden = hidden_presets_note(presets_of(resolved)))
        warnings.push_back(*std::move(hidden));
    for (std::string& warning : warnings)
        if (std::find(prediction.warnings.begin(), prediction.warnings.end(), warning) == prediction.warnings.end())
            prediction.warnings.push_back(std::move(warning));
    return prediction;
}

} // namespace fourfold::cli
