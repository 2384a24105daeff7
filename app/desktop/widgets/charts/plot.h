// SPDX-License-Identifier: GPL-3.0-or-later
// What the painted charts have in common: scales with round values, the plot between two of them with its lines and
// numbers, and the box that values are read off in. What a chart draws into its plot is its own.
#pragma once

#include "app/desktop/look/theme.h"

#include <QPainter>

#include <functional>
#include <vector>

namespace fourfold::ui {

// Round numbers for an axis over `length`: at most `most` steps of 1, 2 or 5 times a power of ten.
double axisStep(double length, int most);
// Decimals that tell neighbours at this step apart.
int axisDecimals(double step);

struct Scale {
    double low = 0, high = 1;
    bool logarithmic = false;

    [[nodiscard]] double shareOf(double value) const; // of the way from low to high
    [[nodiscard]] double valueAt(double share) const; // the other way
    // Round values, at most `most` steps. A logarithmic scale has decades, where there are few of them also their 2s
    // and 5s, and round steps where its ends are close.
    [[nodiscard]] std::vector<double> ticks(int most) const;
    // Grouped, with the decimals that tell those ticks apart.
    [[nodiscard]] QString text(double value, int most) const;
};

// The multiples of `step` between both ends.
std::vector<double> roundValues(const Scale& scale, double step);

using TickText = std::function<QString(double)>;

struct Plot {
    QRectF area;
    Scale x, y;

    // Too small for a picture of anything.
    [[nodiscard]] bool isTiny() const { return area.width() < 20 || area.height() < 20; }
    [[nodiscard]] double xAt(double value) const { return area.left() + x.shareOf(value) * area.width(); }
    [[nodiscard]] double yAt(double value) const { return area.bottom() - y.shareOf(value) * area.height(); }
    [[nodiscard]] QPointF at(double xValue, double yValue) const { return {xAt(xValue), yAt(yValue)}; }
    [[nodiscard]] QPointF at(const QPointF& value) const { return at(value.x(), value.y()); }
    [[nodiscard]] double xValueAt(double pixel) const { return x.valueAt((pixel - area.left()) / area.width()); }
    // Steps that have room, a line of text and its air each.
    [[nodiscard]] int stepsUp(int pixels) const;
    [[nodiscard]] int stepsAcross(int pixels) const;

    // A line at each value, and the value left of it; in the painter's font.
    void paintRows(
        QPainter& painter, const std::vector<double>& values, const TickText& text, const Theme& theme) const;
    // The values under the plot, with a line up where `lines`.
    void paintColumns(QPainter& painter, const std::vector<double>& values, const TickText& text, const Theme& theme,
        bool lines = false) const;
    // Words in a box right of the place x, or left of it where the plot ends.
    void paintReading(
        QPainter& painter, double place, const QStringList& lines, const QColor& frame, const Theme& theme) const;
};

// Room at the left of a plot for the numbers of an axis from 0 to `top`, in the small font.
int axisRoom(double top);

} // namespace fourfold::ui
