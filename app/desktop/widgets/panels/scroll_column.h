// SPDX-License-Identifier: GPL-3.0-or-later
// A column that scrolls where the window is lower than what it holds, as with twice the size on a small screen: nothing
// is pressed together then. As wide as its place.
#pragma once

#include <QScrollArea>

namespace fourfold::ui {

class ScrollColumn : public QScrollArea {
    Q_OBJECT
public:
    explicit ScrollColumn(QWidget* content, QWidget* parent = nullptr); // takes ownership
    void setLeastHeight(int height); // at 100 % zoom, where its place is low: inside a card
    // What it holds is as wide without the scroll bar as beside it: no line breaks elsewhere when the bar comes.
    void keepRoomOfBar();
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QSize sizeHint() const override;

protected:
    bool eventFilter(QObject* object, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    int m_leastHeight = 160;
    bool m_keepsRoomOfBar = false;
};

} // namespace fourfold::ui
