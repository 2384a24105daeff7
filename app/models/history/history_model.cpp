// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/history_model.h"

#include "app/models/history/history_edits.h"
#include "app/models/runs/live_run.h"
#include "app/models/search/search_headers.h"
#include "app/models/shared/text.h"
#include "core/report/views/runs_table.h"

#include <QDateTime>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
QString optionalText(const std::optional<double>& value, QString (*format)(double))
{
    return value ? format(*value) : QString();
}

QString errorText(double value)
{
    return signedPercent(value);
}

QString lossText(double value)
{
    return grouped(value, 3);
}

QString localTime(const std::string& iso)
{
    const QDateTime time = QDateTime::fromString(fromUtf8(iso), Qt::ISODateWithMs);
    return time.isValid() ? time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm")) : fromUtf8(iso);
}

bool isNumber(int column)
{
    switch (column) {
    case HistoryModel::name:
    case HistoryModel::model:
    case HistoryModel::state:
    case HistoryModel::target:
    case HistoryModel::layout:
    case HistoryModel::mostOff:
    case HistoryModel::tags:
    case HistoryModel::created:
        return false;
    default:
        return true;
    }
}
} // namespace

void HistoryModel::show(std::vector<RunSummary> runs)
{
    beginResetModel();
    m_runs = std::move(runs);
    m_fields = RunFields(m_runs);
    m_expression.reset(); // of the fields of before
    m_haystacks.clear();
    m_haystacks.reserve(m_runs.size());
    for (const RunSummary& run : m_runs)
        m_haystacks.push_back(haystack(run));
    arrange();
    endResetModel();
}

void HistoryModel::setFilter(const QString& words)
{
    beginResetModel();
    m_expression.reset();
    m_words = words.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    arrange();
    endResetModel();
}

void HistoryModel::setFilter(const Expression& expression)
{
    beginResetModel();
    m_words.clear();
    m_expression = std::make_shared<const Expression>(expression);
    arrange();
    endResetModel();
}

int HistoryModel::rowOf(const QString& id) const
{
    for (int row = 0; row < rowCount(); ++row) {
        if (fromUtf8(run(row).id) == id)
            return row;
    }
    return -1;
}

const RunSummary* HistoryModel::find(const QString& id) const
{
    const auto found
        = std::find_if(m_runs.begin(), m_runs.end(), [&](const RunSummary& run) { return fromUtf8(run.id) == id; });
    return found == m_runs.end() ? nullptr : &*found;
}

int HistoryModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_visible.size());
}

int HistoryModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : columns;
}

QString HistoryModel::text(const RunSummary& run, int column) const
{
    switch (column) {
    case name:
        return fromUtf8(run.name);
    case model:
        return fromUtf8(run.model);
    case state:
        return stateLabel(run.state);
    case target:
        return fromUtf8(run.target);
    case layout:
        return fromUtf8(run.layout);
    case gpus:
        return grouped(run.gpus);
    case steps:
        return grouped(run.steps);
    case predictedTps:
        return optionalText(run.predicted_tps_per_gpu, throughputText);
    case measuredTps:
        return optionalText(run.measured_tps_per_gpu, throughputText);
    case tpsError:
        return optionalText(run.tps_error, errorText);
    case mostOff:
        return fromUtf8(most_off_text(run));
    case predictedMemory:
        return optionalText(run.predicted_memory_gib, gib);
    case measuredMemory:
        return optionalText(run.measured_memory_gib, gib);
    case loss:
        return optionalText(run.last_loss, lossText);
    case tags:
        return tagText(run.tags);
    case created:
        return localTime(run.created);
    default:
        return {};
    }
}

QVariant HistoryModel::sortKey(const RunSummary& run, int column) const
{
    const auto number = [](const std::optional<double>& value) { return value ? QVariant(*value) : QVariant(); };
    switch (column) {
    case gpus:
        return double(run.gpus);
    case steps:
        return double(run.steps);
    case predictedTps:
        return number(run.predicted_tps_per_gpu);
    case measuredTps:
        return number(run.measured_tps_per_gpu);
    case tpsError:
        return number(run.tps_error);
    case mostOff: // the words as they are read, the seconds without their sign
        return run.most_off ? QVariant(std::abs(run.most_off->difference_s())) : QVariant();
    case predictedMemory:
        return number(run.predicted_memory_gib);
    case measuredMemory:
        return number(run.measured_memory_gib);
    case loss:
        return number(run.last_loss);
    case created:
        return fromUtf8(run.created);
    default:
        return text(run, column);
    }
}

QString HistoryModel::haystack(const RunSummary& run) const
{
    // As the table shows it, and as the command line knows it.
    return (text(run, state) + QLatin1Char('\n') + localTime(run.created)).toLower() + QLatin1Char('\n')
        + fromUtf8(words_of_run(run)).toLower();
}

// Unknown values stay at the end in both directions.
void HistoryModel::arrange()
{
    m_visible.clear();
    std::vector<QVariant> keys(m_runs.size());
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const bool matches = m_expression ? m_expression->holds(m_fields.values(m_runs[i]))
                                          : std::all_of(m_words.begin(), m_words.end(),
                                              [&](const QString& word) { return m_haystacks[i].contains(word); });
        if (matches) {
            m_visible.push_back(i);
            keys[i] = sortKey(m_runs[i], m_sortColumn);
        }
    }
    const bool ascending = m_sortOrder == Qt::AscendingOrder;
    std::stable_sort(m_visible.begin(), m_visible.end(), [&](std::size_t a, std::size_t b) {
        if (!keys[a].isValid() || !keys[b].isValid())
            return keys[a].isValid() && !keys[b].isValid();
        if (keys[a].typeId() == QMetaType::Double) {
            return ascending ? keys[a].toDouble() < keys[b].toDouble() : keys[a].toDouble() > keys[b].toDouble();
        }
        const int order = QString::compare(keys[a].toString(), keys[b].toString(), Qt::CaseInsensitive);
        return ascending ? order < 0 : order > 0;
    });
}

void HistoryModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= columns)
        return;
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const std::vector<std::size_t> before = m_visible;
    m_sortColumn = column;
    m_sortOrder = order;
    arrange();
    std::vector<int> rowOfRun(m_runs.size(), -1);
    for (std::size_t row = 0; row < m_visible.size(); ++row)
        rowOfRun[m_visible[row]] = static_cast<int>(row);
    const QModelIndexList old = persistentIndexList();
    QModelIndexList moved;
    moved.reserve(old.size());
    for (const QModelIndex& index : old)
        moved << this->index(rowOfRun[before[static_cast<std::size_t>(index.row())]], index.column());
    changePersistentIndexList(old, moved);
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const RunSummary& at = run(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return text(at, index.column());
    case Qt::TextAlignmentRole:
        return QVariant((isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return index.column() == state ? fromUtf8(at.problem)
            : index.column() == name   ? fromUtf8(at.name) + QLatin1Char('\n') + fromUtf8(at.id)
            : index.column() == tags   ? fromUtf8(at.note)
            : index.column() == mostOff && at.most_off
            ? tr("%1 per stage: %2 predicted, %3 measured in the traced step")
                  .arg(fromUtf8(at.most_off->term), duration(at.most_off->predicted_s),
                      duration(at.most_off->measured_s))
            : QString();
    case IdRole:
        return fromUtf8(at.id);
    case ValueRole:
        return sortKey(at, index.column());
    case LevelRole:
        return index.column() == state ? QVariant(static_cast<int>(stateLevel(at.state))) : QVariant();
    default:
        return {};
    }
}

QVariant HistoryModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return QAbstractTableModel::headerData(section, orientation, role);
    if (role == Qt::TextAlignmentRole)
        return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    static const char* const titles[columns]{QT_TR_NOOP("Run"), QT_TR_NOOP("Model"), QT_TR_NOOP("State"),
        QT_TR_NOOP("Target"), QT_TR_NOOP("Layout"), QT_TR_NOOP("GPUs"), QT_TR_NOOP("Steps"),
        QT_TR_NOOP("Predicted\nTPS/GPU"), QT_TR_NOOP("Measured\nTPS/GPU"), QT_TR_NOOP("Error"), QT_TR_NOOP("Most off"),
        QT_TR_NOOP("Predicted\nGiB"), QT_TR_NOOP("Measured\nGiB"), QT_TR_NOOP("Loss"), QT_TR_NOOP("Tags"),
        QT_TR_NOOP("Date")};
    return section >= 0 && section < columns ? QVariant(tr(titles[section])) : QVariant();
}

} // namespace fourfold::ui
