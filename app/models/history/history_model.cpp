// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/history_model.h"

#include "app/models/history/history_edits.h"
#include "app/models/shared/text.h"
#include "app/view/runs/live_run.h"
#include "core/report/views/runs_table.h"

#include <QDateTime>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
QString localTime(const std::string& iso)
{
    const QDateTime time = QDateTime::fromString(fromUtf8(iso), Qt::ISODateWithMs);
    return time.isValid() ? time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm")) : fromUtf8(iso);
}

// A column says its text, and sorts by its number where it has one; unknown is neither.
struct RunFigure {
    QString (*text)(const RunSummary& run);
    std::optional<double> (*number)(const RunSummary& run) = nullptr;
};

template <auto Member, auto Format>
constexpr RunFigure numberOf()
{
    return {[](const RunSummary& run) { return run.*Member ? QString(Format(*(run.*Member))) : QString(); },
        [](const RunSummary& run) -> std::optional<double> { return run.*Member; }};
}

template <auto Member>
constexpr RunFigure wordsOf()
{
    return {[](const RunSummary& run) { return fromUtf8(run.*Member); }};
}

template <auto Member>
constexpr RunFigure countOf()
{
    return {[](const RunSummary& run) { return grouped(run.*Member); },
        [](const RunSummary& run) { return std::optional<double>(run.*Member); }};
}

QString errorText(double value)
{
    return signedPercent(value);
}

QString lossText(double value)
{
    return grouped(value, 3);
}

// In the order of HistoryModel::Column.
constexpr ColumnsModel::Column kRunColumns[HistoryModel::columns]{
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Run"), 104},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Model"), 100},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "State"), 76},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Target"), 78},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Layout"), 158},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "GPUs"), 56, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Steps"), 58, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Predicted\nTPS/GPU"), 84, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Measured\nTPS/GPU"), 84, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Error"), 74, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Most off"), 124},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Predicted\nGiB"), 84, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Measured\nGiB"), 84, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Loss"), 64, Qt::AlignRight},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Tags"), 54},
    {QT_TRANSLATE_NOOP("fourfold::ui::HistoryModel", "Date"), 136}};

const RunFigure kRunFigures[HistoryModel::columns]{wordsOf<&RunSummary::name>(), wordsOf<&RunSummary::model>(),
    {[](const RunSummary& run) { return exactText(view::state_label(run.state)); }}, wordsOf<&RunSummary::target>(),
    wordsOf<&RunSummary::layout>(), countOf<&RunSummary::gpus>(), countOf<&RunSummary::steps>(),
    numberOf<&RunSummary::predicted_tps_per_gpu, throughputText>(),
    numberOf<&RunSummary::measured_tps_per_gpu, throughputText>(), numberOf<&RunSummary::tps_error, errorText>(),
    // The words as they are read, the seconds without their sign.
    {[](const RunSummary& run) { return fromUtf8(most_off_text(run)); },
        [](const RunSummary& run) {
            return run.most_off ? std::optional(std::abs(run.most_off->difference_s())) : std::nullopt;
        }},
    numberOf<&RunSummary::predicted_memory_gib, gib>(), numberOf<&RunSummary::measured_memory_gib, gib>(),
    numberOf<&RunSummary::last_loss, lossText>(), {[](const RunSummary& run) { return tagText(run.tags); }},
    {[](const RunSummary& run) { return localTime(run.created); }}};

QString runText(const RunSummary& run, int column)
{
    return kRunFigures[column].text(run);
}

QVariant runSortKey(const RunSummary& run, int column)
{
    if (kRunFigures[column].number) {
        const std::optional<double> value = kRunFigures[column].number(run);
        return value ? QVariant(*value) : QVariant();
    }
    return column == HistoryModel::created ? fromUtf8(run.created) : runText(run, column);
}

QString runTip(const RunSummary& run, int column)
{
    switch (column) {
    case HistoryModel::name:
        return fromUtf8(run.name) + QLatin1Char('\n') + fromUtf8(run.id);
    case HistoryModel::state:
        return fromUtf8(run.problem);
    case HistoryModel::mostOff:
        return run.most_off ? HistoryModel::tr("%1 per stage: %2 predicted, %3 measured in the traced step")
                                  .arg(fromUtf8(run.most_off->term), duration(run.most_off->predicted_s),
                                      duration(run.most_off->measured_s))
                            : QString();
    case HistoryModel::tags:
        return fromUtf8(run.note);
    default:
        return {};
    }
}
} // namespace

HistoryModel::HistoryModel(QObject* parent)
    : ColumnsModel(kRunColumns, parent)
{
}

QList<int> HistoryModel::widths()
{
    return widthsOf(kRunColumns);
}

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

QString HistoryModel::haystack(const RunSummary& run) const
{
    // As the table shows it, and as the command line knows it.
    return (runText(run, state) + QLatin1Char('\n') + localTime(run.created)).toLower() + QLatin1Char('\n')
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
            keys[i] = runSortKey(m_runs[i], m_sortColumn);
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

QVariant HistoryModel::cell(int row, int column, int role) const
{
    const RunSummary& at = run(row);
    switch (role) {
    case Qt::DisplayRole:
        return runText(at, column);
    case Qt::ToolTipRole:
        return runTip(at, column);
    case IdRole:
        return fromUtf8(at.id);
    case ValueRole:
        return runSortKey(at, column);
    case LevelRole:
        return column == state ? QVariant(static_cast<int>(view::state_tone(at.state))) : QVariant();
    default:
        return {};
    }
}

} // namespace fourfold::ui
