// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/look/app_style.h"

#include "app/desktop/look/theme.h"
#include "app/desktop/look/zoom.h"

#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QStyleFactory>
#include <QStyleOption>

namespace fourfold::ui {

namespace {
constexpr int kTickBox = 13; // at 100 %
constexpr int kFusionDarker = 140; // per cent; how Fusion makes the line of a field from the window's colour

void drawTickBox(QPainter& painter, const QStyleOption& option, const Theme& theme)
{
    const bool enabled = option.state & QStyle::State_Enabled;
    const bool focused = enabled && (option.state & QStyle::State_HasFocus);
    const bool filled = option.state & (QStyle::State_On | QStyle::State_NoChange);
    const QRectF box = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(focused ? theme.accent : theme.fieldLine, focused ? 2 : 1));
    painter.setBrush(!filled ? theme.field : enabled ? theme.primary : theme.fieldLine);
    painter.drawRoundedRect(box, 2, 2);
    painter.setPen(QPen(theme.onAccent, std::max(1.5, box.width() / 8), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const auto at = [&](double x, double y) { return box.topLeft() + QPointF(x * box.width(), y * box.height()); };
    if (option.state & QStyle::State_On)
        painter.drawPolyline(QPolygonF({at(0.22, 0.52), at(0.42, 0.72), at(0.78, 0.3)}));
    else if (option.state & QStyle::State_NoChange)
        painter.drawLine(at(0.25, 0.5), at(0.75, 0.5));
    painter.restore();
}
} // namespace

QString shownChoice(const QStyleOptionComboBox& option, const QWidget* box)
{
    const QRect room = box->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, box);
    return option.fontMetrics.elidedText(option.currentText, Qt::ElideRight, room.width() - 4);
}

AppStyle::AppStyle()
    : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion")))
{
}

void AppStyle::polish(QWidget* widget)
{
    // Qt's tool tips are labels as well; each is made new and polished before it gets its text.
    if (auto* label = qobject_cast<QLabel*>(widget); label && label->textFormat() == Qt::AutoText)
        label->setTextFormat(Qt::PlainText);
    QProxyStyle::polish(widget);
}

int AppStyle::styleHint(
    StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* returned) const
{
    // On X11 Fusion puts some on those of dialogs.
    return hint == SH_DialogButtonBox_ButtonsHaveIcons ? 0 : QProxyStyle::styleHint(hint, option, widget, returned);
}

int AppStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const
{
    if (metric == PM_IndicatorWidth || metric == PM_IndicatorHeight)
        return px(kTickBox);
    return QProxyStyle::pixelMetric(metric, option, widget);
}

void AppStyle::drawPrimitive(
    PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    if (element == PE_IndicatorCheckBox) {
        drawTickBox(*painter, *option, themeOf(widget));
        return;
    }
    const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
    if (element == PE_FrameLineEdit && frame) {
        QStyleOptionFrame changed(*frame);
        changed.palette = outlined(frame->palette);
        QProxyStyle::drawPrimitive(element, &changed, painter, widget);
        return;
    }
    QProxyStyle::drawPrimitive(element, option, painter, widget);
}

void AppStyle::drawControl(
    ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
    if (element != CE_ComboBoxLabel || !combo) {
        QProxyStyle::drawControl(element, option, painter, widget);
        return;
    }
    QStyleOptionComboBox changed(*combo);
    changed.currentText = shownChoice(*combo, widget);
    QProxyStyle::drawControl(element, &changed, painter, widget);
}

void AppStyle::drawComplexControl(
    ComplexControl control, const QStyleOptionComplex* option, QPainter* painter, const QWidget* widget) const
{
    if (const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option); spin && control == CC_SpinBox) {
        QStyleOptionSpinBox changed(*spin);
        changed.palette = outlined(spin->palette);
        QProxyStyle::drawComplexControl(control, &changed, painter, widget);
        return;
    }
    if (const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option); combo && control == CC_ComboBox) {
        QStyleOptionComboBox changed(*combo);
        changed.palette = outlined(combo->palette);
        QProxyStyle::drawComplexControl(control, &changed, painter, widget);
        return;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

// The same colours, but a window from which Fusion makes the line that the theme wants around its fields.
const QPalette& AppStyle::outlined(const QPalette& palette) const
{
    if (palette.cacheKey() != m_key) {
        m_key = palette.cacheKey();
        m_outlined = palette;
        const bool dark = palette.color(QPalette::Window).lightness() < 128;
        const Theme& theme = dark ? darkTheme() : lightTheme();
        m_outlined.setColor(QPalette::Window, theme.fieldLine.lighter(kFusionDarker));
    }
    return m_outlined;
}

} // namespace fourfold::ui
