// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/results_model.h"

#include "app/models/shared/text.h"

#include <array>

namespace fourfold::ui {

namespace {
using Columns = std::array<ColumnsModel::Column, ResultsModel::columns>;
const Columns& resultColumns()
{
    static const Columns all = [] {
        constexpr int widths[ResultsModel::columns]{
            24, 46, 54, 42, 42, 42, 52, 42, 46, 54, 96, 78, 92, 70, 78, 54, 66, 60, 78, 60, 78, 124};
        Columns columns;
        for (int i = 0; i < ResultsModel::columns; ++i) {
            const bool words
                = (i >= ResultsModel::schedule && i <= ResultsModel::recompute) || i == ResultsModel::confidence;
            columns[static_cast<std::size_t>(i)] = {view::Results::title(i), widths[i],
                i == ResultsModel::pin ? Qt::AlignHCenter
                    : words            ? Qt::AlignLeft
                                       : Qt::AlignRight,
                view::Results::about(i)};
        }
        return columns;
    }();
    return all;
}
} // namespace

ResultsModel::ResultsModel(QObject* parent)
    : ColumnsModel(resultColumns(), parent)
{
}

QList<int> ResultsModel::widths()
{
    return widthsOf(resultColumns());
}

void ResultsModel::clear()
{
    beginResetModel();
    m_results.clear();
    endResetModel();
    emit pinsChanged();
}

void ResultsModel::append(std::vector<ResultRow> rows)
{
    beginResetModel();
    m_results.append(std::move(rows));
    endResetModel();
}

void ResultsModel::setOutcome(const std::vector<FoundLayout>& best, const std::vector<FoundLayout>& pareto)
{
    beginResetModel();
    m_results.set_outcome(best, pareto);
    endResetModel();
}

void ResultsModel::setParetoOnly(bool on)
{
    beginResetModel();
    m_results.set_pareto_only(on);
    endResetModel();
}

void ResultsModel::setFilter(std::optional<Expression> filter)
{
    beginResetModel();
    m_results.set_filter(std::move(filter));
    endResetModel();
}

void ResultsModel::setPlan(const QString& name, std::optional<double> tps_per_gpu)
{
    m_plan = name;
    m_results.set_plan_throughput(tps_per_gpu);
    if (rowCount() > 0)
        emit dataChanged(index(0, against_plan), index(rowCount() - 1, against_plan));
}

void ResultsModel::togglePin(int row)
{
    m_results.toggle_pin(idOf(row));
    emit dataChanged(index(row, pin), index(row, pin));
    emit pinsChanged();
}

void ResultsModel::sort(int column, Qt::SortOrder order)
{
    beginResetModel();
    m_results.sort(column, order == Qt::DescendingOrder);
    endResetModel();
}

QString ResultsModel::tip(std::size_t id, int column) const
{
    const ResultRow& row = m_results.all()[id];
    switch (column) {
    case place:
        return tr("Layouts of one place differ by less than the model can tell; less memory first.");
    case memory:
    case confidence:
        return fromUtf8(m_results.certainty(id)
            + view::warning_lines(row.warned && m_warningsOf ? m_warningsOf(row.found) : std::vector<std::string>()));
    case days:
    case cost:
    case energy:
        return fromUtf8(m_trainingTip);
    case against_plan:
        return m_plan.isEmpty()
            ? tr("The plan that was searched from is closed, does not fit, or asks something else now.")
            : tr("Tokens/s per GPU beside %1").arg(m_plan);
    default:
        return {};
    }
}

QVariant ResultsModel::cell(int row, int column, int role) const
{
    const std::size_t id = idOf(row);
    switch (role) {
    case Qt::DisplayRole:
        return fromUtf8(m_results.text(id, column));
    case ValueRole:
        return m_results.value(id, column);
    case Qt::AccessibleTextRole:
        if (column == pin)
            return m_results.pinned().contains(id) ? tr("pinned")
                : m_results.is_pareto(id)          ? tr("on the Pareto front")
                                                   : QString();
        if (column == confidence && m_results.all()[id].warned)
            return tr("%1, with warnings").arg(fromUtf8(m_results.text(id, confidence)).mid(2));
        return {};
    case Qt::ToolTipRole:
        return tip(id, column);
    case LevelRole:
        return static_cast<int>(m_results.tone(id, column));
    default:
        return {};
    }
}

} // namespace fourfold::ui
