// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/table_header.h"

#include "app/desktop/look/theme.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/table_views.h"

#include <QAbstractItemModel>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QStyleOptionHeader>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kBesideWords = 2 * 8 + 1 + 1; // padding and line of the style sheet, and a pixel that fonts round to
constexpr int kMarkRoom = 6, kMarkHeight = 4, kMarkTop = 2; // lengths at 100 % zoom
} // namespace

TableHeader::TableHeader(QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent)
{
    setSectionsClickable(true);
    setHighlightSections(false);
    setSectionsMovable(true);
}

void TableHeader::changeEvent(QEvent* event)
{
    QHeaderView::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        emit headingsResized();
}

void TableHeader::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    addColumns(menu);
    if (auto* table = qobject_cast<DataTable*>(parentWidget())) {
        menu.addSeparator();
        addViews(menu, *table);
    }
    menu.exec(event->globalPos());
}

void TableHeader::addColumns(QMenu& menu)
{
    for (int place = 0; place < count(); ++place) {
        const int column = logicalIndex(place);
        QString title = model()->headerData(column, Qt::Horizontal).toString();
        if (title.isEmpty())
            title = model()->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString();
        QAction* action = menu.addAction(title.replace(QLatin1Char('\n'), QLatin1Char(' ')));
        action->setCheckable(true);
        action->setChecked(!isSectionHidden(column));
        action->setEnabled(isSectionHidden(column) || count() - hiddenSectionCount() > 1);
        connect(action, &QAction::toggled, this, [this, column](bool shown) {
            setSectionHidden(column, !shown);
            emit columnsChosen();
        });
    }
}

void TableHeader::initStyleOptionForIndex(QStyleOptionHeader* option, int section) const
{
    QHeaderView::initStyleOptionForIndex(option, section);
    option->sortIndicator = QStyleOptionHeader::None; // paintSection() has its own
    if (textElideMode() == Qt::ElideNone || !model())
        return;
    // Qt shortens headings of one line only.
    QStringList lines = model()->headerData(section, orientation()).toString().split(QLatin1Char('\n'));
    if (lines.size() < 2)
        return;
    const QFontMetrics metrics(wordsFont());
    for (QString& line : lines)
        line = metrics.elidedText(line, textElideMode(), sectionSize(section) - kBesideWords);
    option->text = lines.join(QLatin1Char('\n'));
}

QSize TableHeader::sectionSizeFromContents(int section) const
{
    const QSize size = QHeaderView::sectionSizeFromContents(section);
    if (!isSortIndicatorShown() || !model())
        return size;
    // Qt leaves room for its mark beside the words; ours stands over them.
    const QFontMetrics metrics(wordsFont());
    int words = 0;
    for (const QString& line : model()->headerData(section, orientation()).toString().split(QLatin1Char('\n')))
        words = std::max(words, metrics.horizontalAdvance(line));
    return {words + kBesideWords, size.height() + px(kMarkRoom)};
}

// As in the style sheet.
QFont TableHeader::wordsFont() const
{
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    return bold;
}

void TableHeader::paintSection(QPainter* painter, const QRect& rect, int section) const
{
    painter->save();
    QHeaderView::paintSection(painter, rect, section);
    painter->restore();
    if (!rect.isValid() || !isSortIndicatorShown() || section != sortIndicatorSection())
        return;
    const double middle = rect.center().x() + 0.5, half = px(kMarkHeight), top = rect.top() + px(kMarkTop);
    const bool rising = sortIndicatorOrder() == Qt::AscendingOrder; // the least first: the mark points up
    const double tip = rising ? top : top + half, base = rising ? top + half : top;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(themeOf(this).accent);
    painter->drawPolygon(QPolygonF({{middle - half, base}, {middle + half, base}, {middle, tip}}));
    painter->restore();
}

} // namespace fourfold::ui
