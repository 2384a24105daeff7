// SPDX-License-Identifier: GPL-3.0-or-later
// The headings of a table, dragged into another order and chosen from a menu. The mark of the sorted column stands
// above the words, in room of its own: Qt's lies over the second line of a heading.
#pragma once

#include <QHeaderView>

class QMenu;

namespace fourfold::ui {

class TableHeader : public QHeaderView {
    Q_OBJECT
public:
    explicit TableHeader(QWidget* parent = nullptr); // a horizontal one

    void addColumns(QMenu& menu); // one entry each, ticked where it is on show

signals:
    void columnsChosen(); // others are on show
    void headingsResized(); // another font has come: later than the table's own

protected:
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override; // which columns are on show
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override;
    [[nodiscard]] QSize sectionSizeFromContents(int section) const override;
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;

private:
    [[nodiscard]] QFont wordsFont() const;
};

} // namespace fourfold::ui
