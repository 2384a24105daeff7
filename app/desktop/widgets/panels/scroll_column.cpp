// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/scroll_column.h"

#include "app/desktop/look/zoom.h"

#include <QEvent>
#include <QScrollBar>

namespace fourfold::ui {

ScrollColumn::ScrollColumn(QWidget* content, QWidget* parent)
    : QScrollArea(parent)
{
    setProperty("gap", true); // the window's ground between the cards
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus); // Tab goes to what it holds, which is then scrolled to
    setWidget(content);
    content->setAutoFillBackground(false);
}

void ScrollColumn::setLeastHeight(int height)
{
    m_leastHeight = height;
    updateGeometry();
}

void ScrollColumn::keepRoomOfBar()
{
    m_keepsRoomOfBar = true;
}

QSize ScrollColumn::minimumSizeHint() const
{
    return {widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width(), px(m_leastHeight)};
}

QSize ScrollColumn::sizeHint() const
{
    return widget()->sizeHint().expandedTo(minimumSizeHint());
}

bool ScrollColumn::eventFilter(QObject* object, QEvent* event)
{
    if (object == widget() && event->type() == QEvent::LayoutRequest)
        updateGeometry(); // the least width is the content's
    return QScrollArea::eventFilter(object, event);
}

void ScrollColumn::resizeEvent(QResizeEvent* event)
{
    if (m_keepsRoomOfBar)
        widget()->setMaximumWidth(width() - verticalScrollBar()->sizeHint().width());
    QScrollArea::resizeEvent(event);
}

} // namespace fourfold::ui
