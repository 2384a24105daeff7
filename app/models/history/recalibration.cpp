// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/recalibration.h"

#include "app/models/shared/text.h"
#include "app/view/history/history_access.h"
#include "core/calibration/user/measured_rows.h"
#include "core/calibration/user/user_preset.h"

namespace fourfold::ui {

namespace {
Expected<Recalibrated> fitted(const Presets& presets, const std::filesystem::path& history, const std::string& stack,
    const std::vector<std::string>& runs)
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(view::history_file_or(history)));
    if (!store)
        return Problem{
            ProblemCode::not_found, "the history holds no run yet", "", view::history_file_or(history).string()};
    FOURFOLD_TRY(MeasuredRows rows, history_rows(*store, stack, runs));
    CalibrationRequest request;
    request.stack = stack;
    request.rows = rows.rows;
    request.source = std::to_string(rows.rows.size()) + (rows.rows.size() == 1 ? " run" : " runs") + " of the history";
    FOURFOLD_TRY(Calibration calibration, calibrate(presets, request));
    FOURFOLD_TRY(const Stack before, presets.stack(stack));
    std::vector<RecalibratedRun> out;
    for (const FitRow& row : rows.rows) {
        const RowPrediction was = predict_row(before, row), is = predict_row(calibration.fit.stack, row);
        out.push_back({row.label, row.step_time_s, was.step_time_s, is.step_time_s, row.memory_gib, was.memory_gib,
            is.memory_gib});
    }
    return Recalibrated{std::move(calibration), std::move(out), std::move(rows.skipped)};
}

Cell relative(const std::optional<double>& predicted, const std::optional<double>& measured)
{
    return predicted && measured && *measured > 0 ? Cell(*predicted / *measured - 1) : Cell();
}
} // namespace

Recalibration::Recalibration(const Presets& presets, const std::filesystem::path& history, QObject* parent)
    : QObject(parent)
    , m_presets(presets)
    , m_history(history)
{
}

void Recalibration::start(const std::string& stack, const QStringList& runs)
{
    std::vector<std::string> ids;
    for (const QString& run : runs)
        ids.push_back(run.toStdString());
    m_result.reset();
    m_work.start([this, stack, ids](const std::stop_token&) -> Background::Done {
        Expected<Recalibrated> result = fitted(m_presets, m_history, stack, ids);
        if (!result)
            return [this, problem = result.error()] { emit failed(problem); };
        return [this, result = std::make_shared<const Recalibrated>(*std::move(result))] {
            m_result = result;
            emit ready();
        };
    });
}

Table Recalibration::runsTable() const
{
    Table table;
    table.columns = {{"run", tr("Run").toStdString()}, {"measured_step_s", tr("Measured step s").toStdString(), -4},
        {"before_step_s", tr("Predicted before").toStdString(), -4},
        {"before_error", tr("Error").toStdString(), 1, 100, " %"},
        {"after_step_s", tr("Predicted after").toStdString(), -4},
        {"after_error", tr("Error after").toStdString(), 1, 100, " %"},
        {"measured_gib", tr("Measured GiB").toStdString(), 2}, {"before_gib", tr("Before GiB").toStdString(), 2},
        {"after_gib", tr("After GiB").toStdString(), 2}};
    if (!m_result)
        return table;
    for (const RecalibratedRun& run : m_result->runs) {
        table.rows.push_back({run.label, cell(run.measured_s), cell(run.before_s),
            relative(run.before_s, run.measured_s), cell(run.after_s), relative(run.after_s, run.measured_s),
            cell(run.measured_gib), cell(run.before_gib), cell(run.after_gib)});
    }
    return table;
}

Table Recalibration::constantsTable() const
{
    Table table;
    table.columns = {{"constant", tr("Constant").toStdString()}, {"gpu", tr("GPU").toStdString()},
        {"before", tr("Before").toStdString(), -4}, {"after", tr("After").toStdString(), -4},
        {"note", tr("Note").toStdString()}};
    if (!m_result)
        return table;
    for (const ConstantEstimate& constant : m_result->calibration.moved())
        table.rows.push_back({constant.name, constant.gpu, constant.before, constant.value,
            constant.at_bound           ? tr("at its bound").toStdString()
                : constant.determined() ? std::string()
                                        : tr("not well determined by these runs").toStdString()});
    return table;
}

QString Recalibration::summary() const
{
    if (!m_result)
        return {};
    const FitError &before = m_result->calibration.fit.before, &after = m_result->calibration.fit.after;
    QStringList parts;
    if (after.time_rows > 0)
        parts << tr("step time: mean error %1 % \u2192 %2 % over %3")
                     .arg(percent(before.time), percent(after.time), counted(after.time_rows, tr("run")));
    if (after.memory_rows > 0)
        parts << tr("memory: %1 % \u2192 %2 %").arg(percent(before.memory), percent(after.memory));
    if (const auto& out = m_result->calibration.left_out)
        parts << tr("step time of runs left out of the fit: %1 %").arg(percent(out->time));
    else
        parts << tr("too few runs to leave one out: the error after is that of the runs themselves");
    return parts.join(QStringLiteral("; "));
}

QString Recalibration::defaultId() const
{
    return m_result ? fromUtf8(default_preset_id(m_result->calibration)) : QString();
}

Expected<std::filesystem::path> Recalibration::save(const QString& id) const
{
    if (!m_result)
        return Problem{ProblemCode::failed, "there is nothing to save", "wait until the fit has ended", ""};
    return save_preset(m_result->calibration, id.toStdString(), m_presets);
}

} // namespace fourfold::ui
