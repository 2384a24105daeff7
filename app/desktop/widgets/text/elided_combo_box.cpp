// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/text/elided_combo_box.h"

#include <QAbstractItemView>
#include <QHelpEvent>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QToolTip>

namespace fourfold::ui {

ElidedComboBox::ElidedComboBox(QWidget* parent)
    : QComboBox(parent)
{
    setMinimumContentsLength(8);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    view()->setTextElideMode(Qt::ElideRight);
}

QString ElidedComboBox::shownIn(const QStyleOptionComboBox& option) const
{
    const QRect room = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
    return option.fontMetrics.elidedText(option.currentText, Qt::ElideRight, room.width() - 4);
}

// The choice in full where it is cut, in front of the tip that the box has.
bool ElidedComboBox::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QComboBox::event(event);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    QStringList lines{shownIn(option) == currentText() ? QString() : currentText(), toolTip()};
    lines.removeAll(QString());
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), lines.join(QLatin1Char('\n')), this);
    return true;
}

void ElidedComboBox::paintEvent(QPaintEvent*)
{
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    option.currentText = shownIn(option);
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

} // namespace fourfold::ui
