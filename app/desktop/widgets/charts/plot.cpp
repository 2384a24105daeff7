// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/plot.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr double kClose = 6; // greatest by least, below which 1, 2 and 5 are too few
constexpr double kManyDecades = 150; // greatest by least, from which on decades are enough
} // namespace

double axisStep(double length, int most)
{
    if (!(length > 0) || most < 1)
        return 1;
    const double rough = length / most;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (power * factor >= rough * (1 - 1e-9))
            return power * factor;
    }
    return power * 10;
}

int axisDecimals(double step)
{
    return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
}

int axisRoom(double top)
{
    constexpr int kLeast = 34, kAir = 10;
    const QString widest = grouped(top, top >= 10 ? 0 : top >= 1 ? 1 : 3);
    return std::max(px(kLeast), QFontMetrics(scaledFont(-1)).horizontalAdvance(widest) + px(kAir));
}

double Scale::shareOf(double value) const
{
    return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

double Scale::valueAt(double share) const
{
    return logarithmic ? low * std::pow(high / low, share) : low + share * (high - low);
}

std::vector<double> Scale::ticks(int most) const
{
    if (!logarithmic || high / low < kClose)
        return roundValues(*this, axisStep(high - low, most));
    std::vector<double> values;
    for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double value = decade * factor;
            if (value >= low && value <= high && (factor == 1 || high / low < kManyDecades))
                values.push_back(value);
        }
    }
    return values;
}

std::vector<double> roundValues(const Scale& scale, double step)
{
    std::vector<double> values;
    for (double index = std::ceil(scale.low / step - 1e-9); index * step <= scale.high + step * 1e-9; ++index)
        values.push_back(index * step);
    return values;
}

QString Scale::text(double value, int most) const
{
    return grouped(value, axisDecimals(axisStep(high - low, most)));
}

int Plot::stepsUp(int pixels) const
{
    return std::max(2, static_cast<int>(area.height()) / px(pixels));
}

int Plot::stepsAcross(int pixels) const
{
    return std::max(2, static_cast<int>(area.width()) / px(pixels));
}

void Plot::paintRows(
    QPainter& painter, const std::vector<double>& values, const TickText& text, const Theme& theme) const
{
    const int height = px(16);
    for (const double value : values) {
        const double top = std::round(yAt(value));
        painter.setPen(theme.grid);
        painter.drawLine(QPointF(area.left(), top), QPointF(area.right(), top));
        painter.setPen(theme.muted);
        drawLine(painter, QRectF(0, top - height / 2.0, area.left() - px(6), height), Qt::AlignRight | Qt::AlignVCenter,
            text(value));
    }
}

void Plot::paintColumns(
    QPainter& painter, const std::vector<double>& values, const TickText& text, const Theme& theme, bool lines) const
{
    for (const double value : values) {
        const double left = xAt(value);
        painter.setPen(theme.grid);
        if (lines)
            painter.drawLine(QPointF(left, area.top()), QPointF(left, area.bottom()));
        painter.setPen(theme.muted);
        drawLine(painter, QRectF(left - px(40), area.bottom() + px(1), px(80), px(16)), Qt::AlignCenter, text(value));
    }
}

void Plot::paintReading(
    QPainter& painter, double place, const QStringList& lines, const QColor& frame, const Theme& theme) const
{
    const QFontMetrics metrics = painter.fontMetrics();
    int widest = 0;
    for (const QString& line : lines)
        widest = std::max(widest, metrics.horizontalAdvance(line));
    QRectF box(place + px(8), area.top(), widest + px(12), metrics.height() * int(lines.size()) + px(6));
    if (box.right() > area.right())
        box.moveRight(place - px(8));
    painter.setPen(frame);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(box, 3, 3);
    painter.setPen(theme.text);
    painter.drawText(box.adjusted(px(6), px(3), 0, 0), Qt::AlignLeft | Qt::AlignTop, lines.join(QLatin1Char('\n')));
}

} // namespace fourfold::ui
