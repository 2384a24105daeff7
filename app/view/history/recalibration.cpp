// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/recalibration.h"

#include "app/view/history/history_access.h"
#include "app/view/text.h"
#include "core/calibration/user/measured_rows.h"
#include "core/calibration/user/user_preset.h"

#include <algorithm>
#include <map>

namespace fourfold::view {

namespace {
constexpr std::size_t kShortId = 12;

Cell relative(const std::optional<double>& predicted, const std::optional<double>& measured)
{
    return predicted && measured && *measured > 0 ? Cell(*predicted / *measured - 1) : Cell();
}
} // namespace

Recalibration::Recalibration(const Presets& presets, std::filesystem::path history, const std::vector<RunSummary>& runs,
    std::function<void()> wake)
    : presets_(presets)
    , history_(std::move(history))
    , runs_(runs)
    , work_(std::move(wake))
{
}

std::vector<std::pair<std::string, int>> Recalibration::stacks() const
{
    std::map<std::string, int> stacks;
    for (const RunSummary& run : runs_)
        ++stacks[run.stack];
    return {stacks.begin(), stacks.end()};
}

Expected<Recalibration::Fitted> Recalibration::fit(const Presets& presets, const std::filesystem::path& history,
    const std::string& stack, const std::vector<std::string>& runs)
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(history_file_or(history)));
    if (!store)
        return Problem{ProblemCode::not_found, "the history holds no run yet", "", history_file_or(history).string()};
    FOURFOLD_TRY(MeasuredRows rows, history_rows(*store, stack, runs));
    CalibrationRequest request;
    request.stack = stack;
    request.rows = rows.rows;
    request.source = std::to_string(rows.rows.size()) + (rows.rows.size() == 1 ? " run" : " runs") + " of the history";
    FOURFOLD_TRY(Calibration calibration, calibrate(presets, request));
    FOURFOLD_TRY(const Stack before, presets.stack(fourfold::name_in_plans(calibration, stack)));
    std::vector<Refitted> out;
    for (const FitRow& row : rows.rows) {
        const RowPrediction was = predict_row(before, row), is = predict_row(calibration.fit.stack, row);
        out.push_back({row.label, row.step_time_s, was.step_time_s, is.step_time_s, row.memory_gib, was.memory_gib,
            is.memory_gib});
    }
    return Fitted{std::move(calibration), std::move(out), std::move(rows.skipped)};
}

void Recalibration::start(const std::string& stack)
{
    stack_ = stack;
    fitted_.reset();
    problem_.reset();
    std::vector<std::string> ids;
    for (const RunSummary& run : runs_) {
        if (run.stack == stack)
            ids.push_back(run.id);
    }
    work_.start([this, stack, ids](const std::stop_token&) -> Background::Done {
        Expected<Fitted> outcome = fit(presets_, history_, stack, ids);
        if (!outcome)
            return [this, problem = outcome.error()] { problem_ = problem; };
        return [this, fitted = std::make_shared<const Fitted>(*std::move(outcome))] { fitted_ = fitted; };
    });
}

std::string Recalibration::summary() const
{
    if (problem_)
        return "This cannot be fitted: " + problem_->line();
    if (!fitted_)
        return "Fitting the constants of " + stack_ + " to the runs\u2026";
    const FitError &before = fitted_->calibration.fit.before, &after = fitted_->calibration.fit.after;
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    if (after.time_rows > 0)
        add("step time: mean error " + percent(before.time) + " % \u2192 " + percent(after.time) + " % over "
            + counted(after.time_rows, "run"));
    if (after.memory_rows > 0)
        add("memory: " + percent(before.memory) + " % \u2192 " + percent(after.memory) + " %");
    if (const auto& out = fitted_->calibration.left_out)
        add("step time of runs left out of the fit: " + percent(out->time) + " %");
    else
        add("too few runs to leave one out: the error after is that of the runs themselves");
    if (!fitted_->skipped.empty())
        text += "\n" + counted(double(fitted_->skipped.size()), "run")
            + " left out; the first: " + fitted_->skipped.front();
    return text;
}

// The fit knows runs by their ids; people know them by their names.
std::string Recalibration::name_of(const std::string& label) const
{
    const auto run
        = std::ranges::find_if(runs_, [&label](const RunSummary& known) { return label.ends_with(known.id); });
    return run == runs_.end() || run->name.empty() ? label : run->name + ", " + run->id.substr(0, kShortId);
}

Table Recalibration::runs_table() const
{
    Table table;
    table.columns = {{"run", "Run"}, {"measured_step_s", "Measured step s", -4},
        {"before_step_s", "Predicted before", -4}, {"before_error", "Error", 1, 100, " %"},
        {"after_step_s", "Predicted after", -4}, {"after_error", "Error after", 1, 100, " %"},
        {"measured_gib", "Measured GiB", 2}, {"before_gib", "Before GiB", 2}, {"after_gib", "After GiB", 2}};
    if (!fitted_)
        return table;
    for (const Refitted& run : fitted_->runs) {
        table.rows.push_back({name_of(run.label), cell(run.measured_s), cell(run.before_s),
            relative(run.before_s, run.measured_s), cell(run.after_s), relative(run.after_s, run.measured_s),
            cell(run.measured_gib), cell(run.before_gib), cell(run.after_gib)});
    }
    return table;
}

Table Recalibration::constants_table() const
{
    Table table;
    table.columns = {
        {"constant", "Constant"}, {"gpu", "GPU"}, {"before", "Before", -4}, {"after", "After", -4}, {"note", "Note"}};
    if (!fitted_)
        return table;
    for (const ConstantEstimate& constant : fitted_->calibration.moved())
        table.rows.push_back({constant.name, constant.gpu, constant.before, constant.value,
            std::string(constant.at_bound   ? "at its bound"
                    : constant.determined() ? ""
                                            : "not well determined by these runs")});
    return table;
}

std::string Recalibration::default_id() const
{
    return fitted_ ? default_preset_id(fitted_->calibration) : std::string();
}

std::string Recalibration::name_in_plans(const std::string& id) const
{
    return fitted_ ? fourfold::name_in_plans(fitted_->calibration, id) : id;
}

Expected<std::filesystem::path> Recalibration::save(const std::string& id) const
{
    if (!fitted_)
        return Problem{ProblemCode::failed, "there is nothing to save", "wait until the fit has ended", ""};
    return save_preset(fitted_->calibration, id, presets_);
}

} // namespace fourfold::view
