// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/data_table.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/tables/table_header.h"
#include "app/models/shared/text.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QKeyEvent>

#include <algorithm>

namespace fourfold::ui {

DataTable::DataTable(QWidget* parent)
    : QTableView(parent)
{
    setHorizontalHeader(new TableHeader(this));
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
    fitRows();
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

void DataTable::setGrowing(const QList<int>& columns)
{
    m_growing = columns;
    grow();
}

void DataTable::grow()
{
    if (m_growing.isEmpty() || m_widthsColumns < m_widths.size())
        return;
    for (int i = 0; i < m_grown.size(); ++i) {
        if (columnWidth(i) != m_grown[i])
            return; // the user's
    }
    int spare = viewport()->width();
    for (const int width : m_widths)
        spare -= px(width);
    m_grown.clear();
    for (int i = 0; i + 1 < m_widths.size(); ++i) { // the last one takes what is left anyway
        const int more = m_growing.contains(i) ? std::max(0, spare) / int(m_growing.size()) : 0;
        m_grown << px(m_widths[i]) + more;
        setColumnWidth(i, m_grown.back());
    }
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
    const int columns = model()->columnCount();
    for (int column = 0; column < columns; ++column)
        cells << spreadsheetCell(model()->headerData(column, Qt::Horizontal).toString());
    lines << cells.join(QLatin1Char('\t'));
    const int count = rows.isEmpty() ? model()->rowCount() : static_cast<int>(rows.size());
    for (int i = 0; i < count; ++i) {
        cells.clear();
        for (int column = 0; column < columns; ++column)
            cells << spreadsheetCell(model()->index(rows.isEmpty() ? i : rows[i].row(), column).data().toString());
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
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
    if (event->type() == QEvent::FontChange) {
        fitRows();
        fitColumns();
    }
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
