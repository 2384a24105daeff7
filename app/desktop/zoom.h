// SPDX-License-Identifier: GPL-3.0-or-later
// The size of the whole interface: the application's font and every length that goes with it.
#pragma once

#include <QFont>

class QWidget;

namespace fourfold::ui {

inline constexpr int kLeastZoom = 70, kMostZoom = 250; // per cent
int zoom(); // per cent, 100 at first
// Clamped to the limits above; changes the font and the widths given below.
void setZoom(int percent);

// A length of the design, which is drawn for 100 %, in the pixels of the zoom of now.
int px(double length);

// Lengths that follow the zoom by themselves.
void fixWidth(QWidget* widget, int length);
void fixHeight(QWidget* widget, int length);
void limitWidth(QWidget* widget, int least); // a minimum
// The application's font, larger or smaller by `points`, also after the next zoom.
void useFont(QWidget* widget, double points, QFont::Weight weight = QFont::Normal);

} // namespace fourfold::ui
