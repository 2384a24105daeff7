// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panel.h"

#include <QGridLayout>
#include <QWidget>

namespace fourfold::ui {

void usePanelStyle(QWidget* widget)
{
    widget->setProperty("role", "panel");
    widget->setAttribute(Qt::WA_StyledBackground);
}

QWidget* makePanel()
{
    auto* panel = new QWidget;
    usePanelStyle(panel);
    return panel;
}

QGridLayout* controlsGrid(QWidget* panel)
{
    auto* grid = new QGridLayout(panel);
    grid->setContentsMargins(12, 10, 12, 8);
    grid->setHorizontalSpacing(10);
    grid->setVerticalSpacing(6);
    return grid;
}

} // namespace fourfold::ui
