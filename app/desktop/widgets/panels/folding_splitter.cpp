// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/folding_splitter.h"

#include "app/desktop/look/zoom.h"

#include <algorithm>

namespace fourfold::ui {

FoldingSplitter::FoldingSplitter(int width, QWidget* parent)
    : QSplitter(Qt::Horizontal, parent)
    , m_width(width)
{
}

// The width of the widest alone: it can always fold.
QSize FoldingSplitter::minimumSizeHint() const
{
    QSize least = QSplitter::minimumSizeHint();
    least.setWidth(0);
    for (int i = 0; i < count(); ++i)
        least.setWidth(std::max(least.width(), widget(i)->minimumSizeHint().width()));
    return least;
}

void FoldingSplitter::resizeEvent(QResizeEvent* event)
{
    fold();
    QSplitter::resizeEvent(event);
}

// A restored layout may bring the direction of a window of another width.
void FoldingSplitter::showEvent(QShowEvent* event)
{
    fold();
    QSplitter::showEvent(event);
}

void FoldingSplitter::fold()
{
    const Qt::Orientation fitting = width() < px(m_width) ? Qt::Vertical : Qt::Horizontal;
    if (fitting != orientation())
        setOrientation(fitting);
}

} // namespace fourfold::ui
