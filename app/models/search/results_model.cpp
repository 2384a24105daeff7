// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/results_model.h"

#include "app/models/plan/choices.h"
#include "app/models/shared/answer.h"
#include "app/models/shared/text.h"
#include "core/predict/rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace fourfold::ui {

namespace {
// Where a column comes from besides the table's own figures.
struct ResultSource {
    const char* key; // in files
    std::optional<PlanField> field = {}; // where the value is a field of the plan
    const char* choice = nullptr; // path of an enumeration, for its words
};

// Both in the order of ResultsModel::Column.
constexpr auto kNumberSide = Qt::AlignRight;
constexpr ColumnsModel::Column kResultColumns[ResultsModel::columns]{{"", 24, Qt::AlignHCenter}, {"#", 46, kNumberSide},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "GPUs"), 54, kNumberSide}, {"TP", 42, kNumberSide},
    {"CP", 42, kNumberSide}, {"PP", 42, kNumberSide}, {"DP", 52, kNumberSide}, {"EP", 42, kNumberSide},
    {"VPP", 46, kNumberSide}, {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Micro"), 54, kNumberSide},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Schedule"), 96},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Sharding"), 78},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Recompute"), 92},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Memory\nGiB"), 70, kNumberSide},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Tokens/s\nper GPU"), 78, kNumberSide},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "MFU\n%"), 54, kNumberSide},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Step\ns"), 66, kNumberSide},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "vs.\nplan"), 78, kNumberSide},
    {QT_TRANSLATE_NOOP("fourfold::ui::ResultsModel", "Confidence"), 124}};
const ResultSource kResultSources[ResultsModel::columns]{{"pinned"}, {"place"}, {"gpus", PlanField::gpus},
    {"tp", PlanField::tp}, {"cp", PlanField::cp}, {"pp", PlanField::pp}, {"dp", PlanField::dp}, {"ep", PlanField::ep},
    {"virtual_stages", PlanField::virtual_stages}, {"micro_batch", PlanField::micro_batch},
    {"schedule", PlanField::schedule, "training.schedule"}, {"sharding", PlanField::sharding, "training.sharding"},
    {"recompute", PlanField::recompute, "training.recompute"}, {"memory_gib", PlanField::memory_gib},
    {"tps_per_gpu", PlanField::tps_per_gpu}, {"mfu", PlanField::mfu}, {"step_time_s", PlanField::step_time_s},
    {"vs_plan"}, {"evidence"}};

QString spelling(const Candidate& candidate, int column)
{
    switch (column) {
    case ResultsModel::schedule:
        return fromUtf8(to_text(candidate.schedule));
    case ResultsModel::sharding:
        return fromUtf8(to_text(candidate.sharding));
    case ResultsModel::recompute:
        return fromUtf8(to_text(candidate.recompute));
    default:
        return {};
    }
}

// Sorted by confidence, what may not fit comes last.
double trust(const ResultRow& row)
{
    const int evidence = row.evidence == Evidence::measured ? 2 : row.evidence == Evidence::calibrated ? 1 : 0;
    return row.found.risk > kMarkedRisk ? -row.found.risk : evidence;
}
} // namespace

ResultsModel::ResultsModel(QObject* parent)
    : ColumnsModel(kResultColumns, parent)
{
}

QList<int> ResultsModel::widths()
{
    return widthsOf(kResultColumns);
}

void ResultsModel::clear()
{
    beginResetModel();
    m_rows.clear();
    m_visible.clear();
    m_pareto.clear();
    m_places.clear();
    m_pinned.clear();
    endResetModel();
    emit pinsChanged();
}

void ResultsModel::append(std::vector<ResultRow> rows)
{
    beginResetModel();
    m_rows.insert(m_rows.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
    arrange();
    endResetModel();
}

void ResultsModel::setOutcome(const std::vector<FoundLayout>& best, const std::vector<FoundLayout>& pareto)
{
    beginResetModel();
    m_pareto.clear();
    for (const FoundLayout& found : pareto)
        m_pareto.insert(found.candidate);
    m_places.clear();
    for (const FoundLayout& found : best)
        m_places.emplace(found.candidate, found.place);
    arrange();
    endResetModel();
}

void ResultsModel::setParetoOnly(bool on)
{
    beginResetModel();
    m_paretoOnly = on;
    arrange();
    endResetModel();
}

void ResultsModel::setFilter(std::optional<Expression> filter)
{
    beginResetModel();
    m_filter = std::move(filter);
    arrange();
    endResetModel();
}

void ResultsModel::setPlanThroughput(std::optional<double> tps_per_gpu)
{
    m_planThroughput = tps_per_gpu;
    if (rowCount() > 0)
        emit dataChanged(index(0, againstPlan), index(rowCount() - 1, againstPlan));
}

int ResultsModel::rowOf(std::size_t id) const
{
    const auto found = std::find(m_visible.begin(), m_visible.end(), static_cast<std::uint32_t>(id));
    return found == m_visible.end() ? -1 : static_cast<int>(found - m_visible.begin());
}

double ResultsModel::value(std::size_t id, int column) const
{
    const ResultRow& row = m_rows[id];
    if (column == pin)
        return m_pinned.contains(id) ? 1 : 0;
    if (column == place) {
        const auto found = m_places.find(row.found.candidate);
        return found == m_places.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
    }
    if (column == confidence)
        return trust(row);
    if (column == againstPlan) {
        if (!m_planThroughput || *m_planThroughput <= 0)
            return std::numeric_limits<double>::quiet_NaN();
        return row.values[slot(PlanField::tps_per_gpu)] / *m_planThroughput - 1;
    }
    return row.values[slot(*kResultSources[column].field)];
}

// Keys are gathered once: comparing then touches a few bytes per row. Among equals the better one comes first.
void ResultsModel::arrange()
{
    m_visible.clear();
    m_visible.reserve(m_rows.size());
    for (std::size_t id = 0; id < m_rows.size(); ++id) {
        if (m_paretoOnly && !isPareto(id))
            continue;
        if (!m_filter || m_filter->holds(m_rows[id].values))
            m_visible.push_back(static_cast<std::uint32_t>(id));
    }
    struct Key {
        double value, order;
        std::uint32_t id;
    };
    std::vector<Key> keys;
    keys.reserve(m_visible.size());
    // What is not known goes to the end in both directions.
    const bool falling = m_sortOrder == Qt::DescendingOrder;
    for (const std::uint32_t id : m_visible) {
        const double at = value(id, m_sortColumn);
        keys.push_back({std::isnan(at) ? std::numeric_limits<double>::infinity()
                : falling              ? -at
                                       : at,
            m_rows[id].order, id});
    }
    std::sort(keys.begin(), keys.end(),
        [](const Key& a, const Key& b) { return std::tie(a.value, a.order, a.id) < std::tie(b.value, b.order, b.id); });
    for (std::size_t i = 0; i < keys.size(); ++i)
        m_visible[i] = keys[i].id;
}

void ResultsModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= columns)
        return;
    beginResetModel();
    m_sortColumn = column;
    m_sortOrder = order;
    arrange();
    endResetModel();
}

void ResultsModel::togglePin(int row)
{
    const std::size_t id = idOf(row);
    if (!m_pinned.insert(id).second)
        m_pinned.erase(id);
    emit dataChanged(index(row, pin), index(row, pin));
    emit pinsChanged();
}

QString ResultsModel::text(std::size_t id, int column) const
{
    if (column == pin)
        return m_pinned.contains(id) ? QStringLiteral("\u25cf") : isPareto(id) ? QStringLiteral("\u25cb") : QString();
    if (kResultSources[column].choice)
        return shortChoiceLabel(
            kResultSources[column].choice, spelling(m_rows[id].found.candidate, column).toStdString());
    const double at = value(id, column);
    if (column == place)
        return std::isnan(at) ? QString() : grouped(at);
    if (column == confidence) {
        const ResultRow& row = m_rows[id];
        const QString words = row.found.risk > kMarkedRisk ? tr("%1 % may not fit").arg(percent(row.found.risk, 0))
                                                           : fromUtf8(name(row.evidence));
        return row.warned ? QStringLiteral("\u26a0 ") + words : words;
    }
    if (!std::isfinite(at))
        return unknownText();
    switch (column) {
    case memory:
        return gib(at);
    case throughput:
        return throughputText(at);
    case mfu:
        return percent(at);
    case stepTime:
        return grouped(at, at < 1 ? 4 : 2);
    case againstPlan:
        return std::abs(at) < 5e-4 ? tr("as the plan") : signedPercent(at);
    default:
        return grouped(at);
    }
}

QString ResultsModel::tip(std::size_t id, int column) const
{
    const ResultRow& row = m_rows[id];
    switch (column) {
    case place:
        return tr("Layouts of one place differ by less than the model can tell; less memory first.");
    case memory:
    case confidence: {
        const std::vector<std::string> warnings
            = row.warned && m_warningsOf ? m_warningsOf(row.found) : std::vector<std::string>();
        return tr("%1. On the device %2 GiB; risk of not fitting %3 %")
                   .arg(
                       evidenceText(row.evidence), gib(row.found.figures.memory_device_gib), percent(row.found.risk, 0))
            + warningLines(warnings);
    }
    default:
        return {};
    }
}

std::optional<RunLogModel::Level> ResultsModel::level(std::size_t id, int column) const
{
    if (column == confidence && (m_rows[id].found.risk > kMarkedRisk || m_rows[id].warned))
        return RunLogModel::Level::warning;
    const double at = column == againstPlan ? value(id, againstPlan) : 0;
    if (!std::isfinite(at) || std::abs(at) < 5e-4)
        return {};
    return at > 0 ? RunLogModel::Level::good : RunLogModel::Level::error;
}

QVariant ResultsModel::cell(int row, int column, int role) const
{
    const std::size_t id = idOf(row);
    switch (role) {
    case Qt::DisplayRole:
        return text(id, column);
    case ValueRole:
        return value(id, column);
    case Qt::AccessibleTextRole:
        if (column == pin)
            return m_pinned.contains(id) ? tr("pinned") : isPareto(id) ? tr("on the Pareto front") : QString();
        if (column == confidence && m_rows[id].warned)
            return tr("%1, with warnings").arg(text(id, confidence).mid(2));
        return {};
    case Qt::ToolTipRole:
        return tip(id, column);
    case LevelRole: {
        const auto known = level(id, column);
        return known ? QVariant(static_cast<int>(*known)) : QVariant();
    }
    default:
        return {};
    }
}

Table ResultsModel::table(int most) const
{
    Table table;
    for (int column = place; column < columns; ++column) {
        const bool whole = column <= microBatch || column == confidence;
        table.columns.push_back({kResultSources[column].key,
            tr(kResultColumns[column].title).replace(QLatin1Char('\n'), QLatin1Char(' ')).toStdString(),
            whole ? 0 : -5});
    }
    table.columns.push_back({"risk", tr("Risk of not fitting").toStdString(), -3});
    for (int row = 0; row < std::min(rowCount(), most); ++row) {
        const std::size_t id = idOf(row);
        std::vector<Cell> cells;
        for (int column = place; column < confidence; ++column) {
            if (kResultSources[column].choice) {
                cells.emplace_back(spelling(m_rows[id].found.candidate, column).toStdString());
                continue;
            }
            const double at = value(id, column);
            if (!std::isfinite(at))
                cells.emplace_back();
            else if (column <= microBatch)
                cells.emplace_back(static_cast<std::int64_t>(std::llround(at)));
            else
                cells.emplace_back(at);
        }
        cells.emplace_back(std::string(name(m_rows[id].evidence)));
        cells.emplace_back(m_rows[id].found.risk);
        table.rows.push_back(std::move(cells));
    }
    return table;
}

} // namespace fourfold::ui
