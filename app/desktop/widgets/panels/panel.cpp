// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/panel.h"

#include "app/models/shared/answer.h"

#include <QGridLayout>
#include <QLabel>
#include <QStyle>
#include <QWidget>

namespace fourfold::ui {

void usePanelStyle(QWidget* widget)
{
    widget->setProperty("role", "panel");
    widget->setAttribute(Qt::WA_StyledBackground);
}

void changeRole(QLabel* label, const QString& role)
{
    if (label->property("role").toString() == role)
        return;
    label->setProperty("role", role);
    const QFont font = label->font();
    label->style()->unpolish(label); // the style sheet reads the property again
    label->style()->polish(label);
    label->setFont(font); // of before the zoom, where the style sheet knows it from then
}

QString roleOf(Tone tone)
{
    switch (tone) {
    case Tone::good:
        return QStringLiteral("good");
    case Tone::warning:
        return QStringLiteral("warning");
    case Tone::bad:
        return QStringLiteral("bad");
    case Tone::neutral:
        break;
    }
    return QStringLiteral("normal");
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
