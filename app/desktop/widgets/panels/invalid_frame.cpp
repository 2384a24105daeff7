// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/invalid_frame.h"

#include "app/desktop/look/theme.h"

#include <QEvent>
#include <QPainter>

namespace fourfold::ui {

InvalidFrame::InvalidFrame(QWidget* field)
    : QWidget(field->parentWidget())
    , m_field(field)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    field->installEventFilter(this);
    hide();
}

void InvalidFrame::setInvalid(bool invalid)
{
    m_invalid = invalid;
    follow();
}

bool InvalidFrame::eventFilter(QObject* watched, QEvent* event)
{
    switch (event->type()) {
    case QEvent::Move:
    case QEvent::Resize:
    case QEvent::Show:
    case QEvent::Hide:
    case QEvent::ParentChange:
        follow();
        break;
    default:
        break;
    }
    return QWidget::eventFilter(watched, event);
}

void InvalidFrame::follow()
{
    if (parentWidget() != m_field->parentWidget())
        setParent(m_field->parentWidget());
    setGeometry(m_field->geometry());
    setVisible(m_invalid && !m_field->isHidden());
    raise();
}

void InvalidFrame::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(themeOf(this).bad, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 3, 3);
}

} // namespace fourfold::ui
