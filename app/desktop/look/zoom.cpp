// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/look/zoom.h"

#include <QApplication>
#include <QDialog>
#include <QFontDatabase>
#include <QLayout>
#include <QScreen>
#include <QVariant>
#include <QWidget>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr const char* kFixedWidth = "fourfoldFixedWidth"; // on widgets: lengths at 100 %
constexpr const char* kFixedHeight = "fourfoldFixedHeight";
constexpr const char* kLeastWidth = "fourfoldLeastWidth";
constexpr const char* kMostWidth = "fourfoldMostWidth";
constexpr const char* kPoints = "fourfoldPoints"; // more or fewer than the application's font
constexpr const char* kWeight = "fourfoldWeight";
constexpr const char* kFixedFont = "fourfoldFixedFont";
constexpr QSize kFrame{40, 80}; // of a dialog, with some air around it

int percentNow = 100; // asked for hundreds of times in a frame

void follow(QWidget* widget)
{
    // The minimum first: a fixed width is a minimum as well and holds where both are given.
    if (const QVariant width = widget->property(kLeastWidth); width.isValid())
        widget->setMinimumWidth(px(width.toDouble()));
    if (const QVariant width = widget->property(kMostWidth); width.isValid())
        widget->setMaximumWidth(px(width.toDouble()));
    if (const QVariant width = widget->property(kFixedWidth); width.isValid())
        widget->setFixedWidth(px(width.toDouble()));
    if (const QVariant height = widget->property(kFixedHeight); height.isValid())
        widget->setFixedHeight(px(height.toDouble()));
    if (const QVariant points = widget->property(kPoints); points.isValid())
        widget->setFont(scaledFont(points.toDouble(), static_cast<QFont::Weight>(widget->property(kWeight).toInt())));
    if (widget->property(kFixedFont).toBool()) {
        QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
        font.setPointSizeF(QApplication::font().pointSizeF());
        widget->setFont(font);
    }
}
// Sizes that a layout and those inside it keep.
void forget(QLayoutItem& item)
{
    item.invalidate();
    QLayout* layout = item.layout();
    for (int i = 0; layout && i < layout->count(); ++i)
        forget(*layout->itemAt(i));
}
} // namespace

int zoom()
{
    return percentNow;
}

void setZoom(int percent)
{
    percent = std::clamp(percent, kLeastZoom, kMostZoom);
    if (percent == zoom())
        return;
    percentNow = percent;
    QApplication::setFont(baseFont());
    qApp->setStyleSheet(qApp->styleSheet()); // widgets with a style sheet take the font only when polished again
    for (QWidget* widget : QApplication::allWidgets())
        follow(widget);
    // Hidden pages do not tell their stack that they are larger now.
    for (QWidget* widget : QApplication::allWidgets()) {
        if (QLayout* layout = widget->layout())
            forget(*layout);
        widget->updateGeometry();
    }
}

void renewZoom(QWidget* window)
{
    QList<QWidget*> widgets = window->findChildren<QWidget*>();
    widgets.prepend(window);
    for (QWidget* widget : widgets)
        widget->ensurePolished();
    for (QWidget* widget : widgets)
        follow(widget);
}

int px(double length)
{
    return static_cast<int>(std::lround(length * zoom() / 100.0));
}

void fixWidth(QWidget* widget, int length)
{
    widget->setProperty(kFixedWidth, length);
    follow(widget);
}

void fixHeight(QWidget* widget, int length)
{
    widget->setProperty(kFixedHeight, length);
    follow(widget);
}

void useFont(QWidget* widget, double points, QFont::Weight weight)
{
    widget->setProperty(kPoints, points);
    widget->setProperty(kWeight, static_cast<int>(weight));
    follow(widget);
}

void useFixedFont(QWidget* widget)
{
    widget->setProperty(kFixedFont, true);
    follow(widget);
}

void resizeDialog(QDialog* dialog, int width, int height)
{
    const QWidget* parent = dialog->parentWidget();
    const QScreen* screen = parent ? parent->screen() : dialog->screen();
    dialog->resize(QSize(px(width), px(height)).boundedTo(screen->availableSize() - kFrame));
}

void limitWidth(QWidget* widget, int least)
{
    widget->setProperty(kLeastWidth, least);
    follow(widget);
}

void limitGrowth(QWidget* widget, int most)
{
    widget->setProperty(kMostWidth, most);
    follow(widget);
}

QFont scaledFont(double points, QFont::Weight weight)
{
    QFont font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() + points * zoom() / 100);
    font.setWeight(weight);
    return font;
}

QFont baseFont()
{
    QFont font = QApplication::font();
    if (QFontDatabase::families().contains(QStringLiteral("Inter")))
        font = QFont(QStringLiteral("Inter"));
    else if (font.family().isEmpty() || QFontDatabase::families().filter(font.family()).isEmpty())
        font = QFont(QStringLiteral("DejaVu Sans"));
    font.setPointSizeF(9 * zoom() / 100.0);
    return font;
}

} // namespace fourfold::ui
