// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/facts_model.h"

#include "app/models/shared/text.h"
#include "app/view/runs/run_failure.h"
#include "app/view/runs/run_setup.h"
#include "core/plan/fields.h"
#include "core/predict/term_off.h"

#include <QFont>

namespace fourfold::ui {

namespace {
QString scalarText(const Json& value)
{
    if (value.is_string())
        return fromUtf8(value.get<std::string>());
    if (value.is_null())
        return {};
    return fromUtf8(value.dump());
}

// "predicted -> measured (error)"; what is unknown is left out.
QString beside(const std::optional<double>& predicted, const std::optional<double>& measured, QString (*format)(double))
{
    const QString unknown = QStringLiteral("\u2013");
    if (!predicted && !measured)
        return {};
    return QStringLiteral("%1 \u2192 %2")
        .arg(predicted ? format(*predicted) : unknown, measured ? format(*measured) : unknown);
}

constexpr ColumnsModel::Column kFactColumns[]{{"fact"}, {"value"}}; // the view has no headings
} // namespace

FactsModel::FactsModel(QObject* parent)
    : ColumnsModel(kFactColumns, parent)
{
}

void FactsModel::clear()
{
    beginResetModel();
    m_rows.clear();
    endResetModel();
}

void FactsModel::show(const RunDetail& run)
{
    beginResetModel();
    m_rows.clear();
    addEnd(run);
    addOutcome(run);
    heading(tr("Plan"));
    add(tr("Model"), fromUtf8(run.summary.model));
    add(tr("Cluster"), fromUtf8(run.summary.cluster));
    add(tr("Layout"), fromUtf8(run.summary.layout));
    add(tr("Target"), fromUtf8(run.summary.target));
    QStringList hosts;
    for (const std::string& host : run.hosts)
        hosts << fromUtf8(host);
    add(tr("Hosts"), hosts.join(QStringLiteral(", ")));
    add(tr("Run id"), fromUtf8(run.summary.id));
    addJson(tr("Versions and hardware"), run.versions);
    addJson(tr("Environment"), run.environment);
    endResetModel();
}

void FactsModel::addOutcome(const RunDetail& run)
{
    const RunSummary& s = run.summary;
    heading(tr("Predicted \u2192 measured"));
    add(tr("Throughput"), beside(s.predicted_tps_per_gpu, s.measured_tps_per_gpu, throughputText));
    if (s.tps_error)
        add(tr("Error"), signedPercent(*s.tps_error));
    add(tr("Step time"), beside(s.predicted_step_time_s, s.measured_step_time_s, duration));
    if (const std::optional<TermOff> term = term_most_off(run.plan, run.other_events)) {
        add(tr("Most off"),
            tr("%1: %2 \u2192 %3 per stage")
                .arg(fromUtf8(term->term), duration(term->predicted_s), duration(term->measured_s)));
    }
    add(tr("Memory, GiB"), beside(s.predicted_memory_gib, s.measured_memory_gib, gib));
    add(tr("Measured as"), fromUtf8(run.headline_rule));
    if (run.tps_spread)
        add(tr("Spread"), tr("%1 % of the median").arg(percent(*run.tps_spread)));
    if (s.first_loss && s.last_loss)
        add(tr("Loss"), QStringLiteral("%1 \u2192 %2").arg(grouped(*s.first_loss, 3), grouped(*s.last_loss, 3)));
    if (s.eval_loss)
        add(tr("Held-out loss"), grouped(*s.eval_loss, 3));
}

// How it ended and how far it came; of a failure also what the first rank told.
void FactsModel::addEnd(const RunDetail& run)
{
    const RunSummary& s = run.summary;
    heading(tr("Run"));
    add(tr("State"), exactText(view::state_label(s.state)));
    add(tr("Problem"), fromUtf8(s.problem));
    if (const std::optional<view::RunFailure> failure = view::failure_of(run)) {
        add(tr("First to fail"), fromUtf8(view::failure_lines(*failure).front()));
        add(tr("In the mesh"), fromUtf8(failure->mesh));
        add(tr("Last collective"), fromUtf8(failure->collective));
    }
    if (run.steps.empty())
        return;
    const StepRow& last = run.steps.back();
    // Of a run that ended before its time it matters how far it was.
    const Json planned = s.state == RunState::ok ? Json() : value_at(run.plan, "run.steps");
    QStringList parts{
        planned.is_number() ? tr("%1 of %2").arg(last.step).arg(planned.get<int>()) : QString::number(last.step)};
    if (last.loss)
        parts << tr("loss %1").arg(grouped(*last.loss, 3));
    if (last.tps_per_gpu)
        parts << tr("%1 TPS/GPU").arg(throughputText(*last.tps_per_gpu));
    if (last.memory_peak_gib)
        parts << tr("%1 GiB").arg(gib(*last.memory_peak_gib));
    add(tr("Last step"), parts.join(QStringLiteral(", ")));
}

void FactsModel::heading(const QString& text)
{
    m_rows.push_back({text, {}, true});
}

void FactsModel::add(const QString& fact, const QString& value)
{
    if (!value.isEmpty())
        m_rows.push_back({fact, value, false});
}

// One level deep; what lies deeper is shown as JSON text.
void FactsModel::addJson(const QString& title, const Json& object)
{
    if (!object.is_object() || object.empty())
        return;
    heading(title);
    for (const auto& [key, value] : object.items()) {
        if (!value.is_object()) {
            add(fromUtf8(key), scalarText(value));
            continue;
        }
        for (const auto& [inner, innerValue] : value.items())
            add(fromUtf8(key) + QLatin1Char(' ') + fromUtf8(inner), scalarText(innerValue));
    }
}

QVariant FactsModel::cell(int rowIndex, int column, int role) const
{
    const Row& row = m_rows[static_cast<std::size_t>(rowIndex)];
    switch (role) {
    case Qt::DisplayRole:
        return column == fact ? row.fact : row.value;
    case Qt::ToolTipRole:
        return row.value;
    case Qt::FontRole: {
        QFont font;
        font.setWeight(row.heading ? QFont::DemiBold : QFont::Normal);
        return font;
    }
    case HeadingRole:
        return row.heading;
    default:
        return {};
    }
}

} // namespace fourfold::ui
