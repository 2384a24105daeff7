// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/data_table.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/tables/table_header.h"
#include "app/desktop/widgets/tables/table_views.h"
#include "app/models/shared/text.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QShortcut>

#include <algorithm>
#include <cstdint>

namespace fourfold::ui {

namespace {
constexpr int kWidestWords = 320; // of a column whose width nobody gave
constexpr int kSampled = 16; // rows beyond those on show, for what a column needs
} // namespace

DataTable::DataTable(QWidget* parent)
    : QTableView(parent)
{
    auto* header = new TableHeader(this);
    setHorizontalHeader(header);
    connect(header, &TableHeader::columnsChosen, this, &DataTable::grow);
    connect(header, &TableHeader::headingsResized, this, &DataTable::fitColumns);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setShowGrid(false);
    setWordWrap(false);
    setFrameShape(QFrame::NoFrame);
    setTabKeyNavigation(false); // Tab leaves the table: the keyboard path goes through the window
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setResizeContentsPrecision(0); // what is on show: 100,000 rows would take a second
    fitRows();
}

void DataTable::present(QAbstractItemModel& model, const char* name, const QString& accessible, bool alternates)
{
    setModel(&model);
    setObjectName(QString::fromLatin1(name));
    setAccessibleName(accessible);
    setAlternatingRowColors(alternates);
}

void DataTable::onKey(Qt::Key key, std::function<void()> run)
{
    auto* shortcut = new QShortcut(QKeySequence(key), this);
    shortcut->setContext(Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, this, std::move(run));
}

void DataTable::setWidths(const QList<int>& widths)
{
    m_widths = widths;
    resetWidths();
}

void DataTable::setModel(QAbstractItemModel* model)
{
    QTableView::setModel(model);
    if (model)
        connect(model, &QAbstractItemModel::modelReset, this, &DataTable::fitColumns);
}

void DataTable::fitColumns()
{
    const int columns = model() ? model()->columnCount() : 0;
    if (zoom() != m_widthsZoom || columns != m_widthsColumns)
        resetWidths();
    else if (m_isFitting)
        grow(); // to what it holds now
}

void DataTable::resetWidths()
{
    m_widthsZoom = zoom();
    m_widthsColumns = model() ? model()->columnCount() : 0;
    for (int i = 0; i < m_widths.size(); ++i)
        setColumnWidth(i, px(m_widths[i]));
    m_grown.clear();
    grow();
}

void DataTable::resetColumns()
{
    QHeaderView* header = horizontalHeader();
    for (int column = 0; column < header->count(); ++column) {
        header->setSectionHidden(column, m_hidden.contains(column));
        header->moveSection(header->visualIndex(column), column);
    }
    resetWidths();
}

void DataTable::setGrowing(const QList<int>& columns)
{
    m_growing = columns;
    grow();
}

void DataTable::setFitting(const QList<int>& words)
{
    m_isFitting = true;
    m_words = words;
    grow();
}

void DataTable::keepWidths()
{
    m_isFitting = false;
}

void DataTable::setUsuallyHidden(const QList<int>& columns)
{
    m_hidden = columns;
    for (const int column : columns)
        setColumnHidden(column, true);
}

void DataTable::addRowAction(
    const QString& text, const QKeySequence& shown, std::function<void()> run, std::function<bool()> possible)
{
    m_rowActions.append({text, shown, std::move(run), std::move(possible)});
}

bool DataTable::isCut(int column) const
{
    if (m_words)
        return m_words->contains(column);
    const int side = model()->index(0, column).data(Qt::TextAlignmentRole).toInt();
    return (side & Qt::AlignRight) == 0;
}

int DataTable::widthOf(int column, int widestWords) const
{
    const bool isGiven = column < m_widths.size();
    if (!m_isFitting || !model() || model()->rowCount() == 0)
        return isGiven ? px(m_widths[column]) : columnWidth(column);
    const int title = horizontalHeader()->sectionSizeHint(column);
    int held = sizeHintForColumn(column); // by the rows on show
    const int rows = model()->rowCount();
    for (int i = 1; i <= kSampled && !isCut(column) && rows > kSampled; ++i)
        held = std::max(
            held, sizeHintForIndex(model()->index(int(std::int64_t(rows) * i / kSampled) - 1, column)).width());
    const int needed = std::max(title, held + px(2));
    return isCut(column) ? std::max(title, std::min(needed, widestWords)) : needed;
}

int DataTable::widthOf(int column) const
{
    return widthOf(column, px(column < m_widths.size() ? m_widths[column] : kWidestWords));
}

int DataTable::fittedColumns() const
{
    return m_isFitting && model() ? model()->columnCount() : static_cast<int>(m_widths.size());
}

void DataTable::grow()
{
    if ((m_growing.isEmpty() && !m_isFitting) || m_widthsColumns < m_widths.size())
        return;
    const int least = horizontalHeader()->minimumSectionSize(); // the zoom's font may have raised it
    for (int i = 0; i < std::min<qsizetype>(m_grown.size(), fittedColumns()); ++i) {
        if (m_grown[i] > 0 && !isColumnHidden(i) && columnWidth(i) != std::max(m_grown[i], least))
            return; // the user's
    }
    QList<int> widths, wanted; // wanted: what would show the words whole
    int spare = viewport()->width(), growing = 0;
    const int columns = fittedColumns();
    for (int i = 0; i < columns; ++i) {
        const bool grows = m_growing.contains(i) && !isColumnHidden(i);
        widths << (isColumnHidden(i) ? 0 : widthOf(i));
        wanted << (grows ? std::max(0, widthOf(i, px(kWidestWords)) - widths.back()) : 0);
        spare -= widths.back();
        growing += grows;
    }
    // First to the columns whose words are cut, one after the other, then to all alike.
    for (const int column : m_growing) {
        if (column >= columns)
            continue;
        const int given = std::clamp(spare, 0, wanted[column]);
        widths[column] += given;
        spare -= given;
    }
    m_grown.clear();
    for (int i = 0; i + 1 < columns; ++i) { // the last one takes what is left anyway
        const bool grows = m_growing.contains(i) && !isColumnHidden(i);
        m_grown << (isColumnHidden(i) ? columnWidth(i) : widths[i] + (grows ? std::max(0, spare) / growing : 0));
        if (isColumnHidden(i))
            continue;
        setColumnWidth(i, m_grown.back());
        m_grown.back() = columnWidth(i); // not below the header's least, which the user did not choose
    }
    // Its own width of before would stay where the others leave it less.
    if (model() && columns > 0 && columns == model()->columnCount() && !isColumnHidden(columns - 1))
        setColumnWidth(columns - 1, widths.back());
}

void DataTable::fitRows()
{
    verticalHeader()->setMinimumSectionSize(8);
    verticalHeader()->setDefaultSectionSize(std::max(px(24), fontMetrics().height() + px(8)));
}

QString DataTable::selectionAsText() const
{
    if (!model())
        return {};
    QModelIndexList rows = selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    QStringList lines, cells;
    QList<int> columns;
    for (int place = 0; place < model()->columnCount(); ++place) {
        if (const int column = horizontalHeader()->logicalIndex(place); !isColumnHidden(column))
            columns << column;
    }
    for (const int column : columns)
        cells << spreadsheetCell(model()->headerData(column, Qt::Horizontal).toString());
    lines << cells.join(QLatin1Char('\t'));
    const int count = rows.isEmpty() ? model()->rowCount() : static_cast<int>(rows.size());
    for (int i = 0; i < count; ++i) {
        cells.clear();
        for (const int column : columns)
            cells << spreadsheetCell(model()->index(rows.isEmpty() ? i : rows[i].row(), column).data().toString());
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void DataTable::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    const bool isOnRow = currentIndex().isValid();
    if (m_rowMenu && isOnRow)
        m_rowMenu(menu);
    for (const RowAction& action : m_rowActions) {
        if (!isOnRow)
            break;
        QAction* entry = menu.addAction(action.text, action.shown, this, action.run);
        entry->setEnabled(!action.possible || action.possible());
    }
    if (!menu.isEmpty())
        menu.addSeparator();
    if (isOnRow && selectionMode() != NoSelection)
        menu.addAction(tr("Copy cell"), this,
            [this] { QApplication::clipboard()->setText(spreadsheetCell(currentIndex().data().toString())); });
    const QString copy = selectionMode() == NoSelection ? tr("Copy table") : tr("Copy rows");
    menu.addAction(copy, QKeySequence::Copy, this, [this] { QApplication::clipboard()->setText(selectionAsText()); });
    menu.addSeparator();
    static_cast<TableHeader*>(horizontalHeader())->addColumns(*menu.addMenu(tr("Columns")));
    addViews(menu, *this);
    menu.exec(event->globalPos());
}

// Qt 6.4 tells a screen reader that the focus has come to the cell, also where the table does not have it: every edit
// of a plan would be answered by the first line of the advice.
void DataTable::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    if (hasFocus())
        QTableView::currentChanged(current, previous);
    else
        QAbstractItemView::currentChanged(current, previous);
}

void DataTable::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(selectionAsText());
        event->accept();
        return;
    }
    if (event->key() == Qt::Key_Delete && event->modifiers() == Qt::NoModifier) {
        event->accept();
        emit deletePressed();
        return;
    }
    QTableView::keyPressEvent(event);
}

void DataTable::changeEvent(QEvent* event)
{
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fitRows(); // columns once their headings have the font too
}

void DataTable::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    grow();
}

void DataTable::showEvent(QShowEvent* event)
{
    QTableView::showEvent(event);
    fitColumns(); // the zoom may have changed while it was hidden
}

} // namespace fourfold::ui
