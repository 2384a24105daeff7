// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/compare_model.h"

#include "app/models/runs/run_log_model.h"
#include "app/models/shared/text.h"

#include <QFont>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr double kSame = 1e-9; // relative; less is rounding
constexpr double kNotable = 5e-4; // a difference that shows in "+0.1 %"
} // namespace

CompareModel::CompareModel(QObject* parent)
    : QAbstractTableModel(parent)
    , m_metrics(compareMetrics())
{
}

void CompareModel::show(std::vector<CompareEntry> entries)
{
    beginResetModel();
    m_entries = std::move(entries);
    // Wherever it stands now: a plan that is being predicted anew is not there for a moment, and others move up.
    const auto found = std::ranges::find(m_entries, m_referenceId, &CompareEntry::id);
    m_reference = m_referenceId.isEmpty() || found == m_entries.end() ? 0 : static_cast<int>(found - m_entries.begin());
    arrange();
    endResetModel();
}

void CompareModel::setReference(int entry)
{
    if (entry < 0 || (entry > 0 && entry >= static_cast<int>(m_entries.size())))
        return;
    m_referenceId = entry == 0 ? QString() : m_entries[static_cast<std::size_t>(entry)].id;
    if (entry == m_reference)
        return;
    m_reference = entry;
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

void CompareModel::setDifferencesOnly(bool on)
{
    if (on == m_differencesOnly)
        return;
    beginResetModel();
    m_differencesOnly = on;
    arrange();
    endResetModel();
}

bool CompareModel::differs(const Metric& metric) const
{
    const Value first = metric.value(m_entries.front());
    return std::any_of(m_entries.begin() + 1, m_entries.end(), [&](const CompareEntry& entry) {
        const Value value = metric.value(entry);
        if (const auto* a = std::get_if<double>(&first), *b = std::get_if<double>(&value); a && b)
            return std::abs(*a - *b) > kSame * std::max(std::abs(*a), std::abs(*b));
        return value != first;
    });
}

// Rows that no entry has a value for are not shown, nor groups without rows.
void CompareModel::arrange()
{
    m_rows.clear();
    if (m_entries.empty())
        return;
    QString group;
    for (const Metric& metric : m_metrics) {
        const bool anything = std::any_of(m_entries.begin(), m_entries.end(),
            [&](const CompareEntry& entry) { return !std::holds_alternative<std::monostate>(metric.value(entry)); });
        if (!anything || (m_differencesOnly && m_entries.size() > 1 && !differs(metric)))
            continue;
        if (metric.group != group) {
            group = metric.group;
            m_rows.push_back({nullptr, group});
        }
        m_rows.push_back({&metric, {}});
    }
}

std::optional<double> CompareModel::delta(const Metric& metric, std::size_t entry) const
{
    if (static_cast<int>(entry) == m_reference || m_reference >= static_cast<int>(m_entries.size()))
        return {};
    const Value mine = metric.value(m_entries[entry]);
    const Value reference = metric.value(m_entries[static_cast<std::size_t>(m_reference)]);
    const auto *a = std::get_if<double>(&mine), *b = std::get_if<double>(&reference);
    if (!a || !b || *b == 0 || metric.key == "tps_error")
        return {};
    const double relative = *a / *b - 1;
    return std::abs(relative) < kNotable ? std::optional<double>() : relative;
}

QString CompareModel::text(const Metric& metric, std::size_t entry) const
{
    const Value value = metric.value(m_entries[entry]);
    if (const auto* words = std::get_if<QString>(&value))
        return *words;
    const auto* number = std::get_if<double>(&value);
    if (!number)
        return unknownText();
    const std::optional<double> relative = metric.better != 0 ? delta(metric, entry) : std::nullopt;
    if (!relative)
        return metric.text(*number);
    return QStringLiteral("%1  %2").arg(metric.text(*number), signedPercent(*relative));
}

int CompareModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int CompareModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size()) + 1;
}

QVariant CompareModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == HeadingRole)
        return row.metric == nullptr;
    if (!row.metric) {
        if (role == Qt::DisplayRole && index.column() == 0)
            return row.heading;
        if (role == Qt::FontRole) {
            QFont font;
            font.setWeight(QFont::DemiBold);
            return font;
        }
        return {};
    }
    if (index.column() == 0)
        return role == Qt::DisplayRole ? QVariant(row.metric->name) : QVariant();
    const auto entry = static_cast<std::size_t>(index.column() - 1);
    const std::optional<double> relative = delta(*row.metric, entry);
    switch (role) {
    case Qt::DisplayRole:
        return text(*row.metric, entry);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    case DeltaRole:
        return relative ? QVariant(*relative) : QVariant();
    case LevelRole:
        if (!relative || row.metric->better == 0)
            return {};
        return static_cast<int>(*relative * row.metric->better > 0 ? view::Tone::good : view::Tone::bad);
    default:
        return {};
    }
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section > static_cast<int>(m_entries.size()))
        return {};
    if (section == 0)
        return role == Qt::DisplayRole ? QVariant(tr("Figure")) : QVariant();
    const CompareEntry& entry = m_entries[static_cast<std::size_t>(section - 1)];
    if (role == Qt::DisplayRole)
        return QStringLiteral("%1  %2\n%3")
            .arg(section)
            .arg(entry.name, section - 1 == m_reference ? tr("reference") : entryKindLabel(entry.kind));
    if (role == Qt::ToolTipRole)
        return QStringLiteral("%1: %2").arg(entryKindLabel(entry.kind), entry.name);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

CompareModel::Derived CompareModel::derivedAt(const QModelIndex& index) const
{
    const Metric* metric = index.isValid() ? m_rows[static_cast<std::size_t>(index.row())].metric : nullptr;
    const int column = index.column() > 0 ? index.column() - 1 : m_reference;
    if (!metric || column >= static_cast<int>(m_entries.size()))
        return {};
    const CompareEntry& entry = m_entries[static_cast<std::size_t>(column)];
    const auto [figure, part] = derivationOfMetric(metric->key);
    if (figure.empty() || !entry.prediction || std::holds_alternative<std::monostate>(metric->value(entry)))
        return {};
    return {&entry, QStringLiteral("%1, %2").arg(metric->title, entry.name), figure, part};
}

Table CompareModel::table() const
{
    Table table;
    table.columns = {
        {"name", tr("Name").toStdString()}, {"kind", tr("Kind").toStdString()}, {"id", tr("Identity").toStdString()}};
    std::vector<const Metric*> metrics;
    for (const Metric& metric : m_metrics)
        metrics.push_back(&metric);
    std::stable_partition(metrics.begin(), metrics.end(), [](const Metric* metric) { return metric->identifies; });
    for (const Metric* metric : metrics)
        table.columns.push_back({metric->key, metric->title.toStdString(), metric->decimals});
    for (const CompareEntry& entry : m_entries) {
        std::vector<Cell> row{entry.name.toStdString(), entryKindLabel(entry.kind).toStdString(),
            entry.origin.isEmpty() ? Cell() : Cell(entry.id.toStdString())};
        for (const Metric* metric : metrics) {
            const Value value = metric->value(entry);
            if (const auto* number = std::get_if<double>(&value)) {
                const bool isWhole = *number == std::round(*number) && std::abs(*number) < 1e15;
                row.push_back(isWhole ? Cell(static_cast<std::int64_t>(*number)) : Cell(*number));
            } else if (const auto* words = std::get_if<QString>(&value)) {
                row.emplace_back(words->toStdString());
            } else {
                row.emplace_back();
            }
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace fourfold::ui
