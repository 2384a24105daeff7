// SPDX-License-Identifier: GPL-3.0-or-later
// The size of the whole interface: the application's font and every length that goes with it.
#pragma once

#include <QFont>

class QDialog;
class QWidget;

namespace fourfold::ui {

inline constexpr int kLeastZoom = 70, kMostZoom = 250; // per cent
int zoom(); // per cent, 100 at first
// Clamped to the limits above; changes the font and the widths given below.
void setZoom(int percent);

// Once more for `window` and all that is in it: polishing takes the fonts of their own away again that widgets were
// given before it.
void renewZoom(QWidget* window);

// A length of the design, which is drawn for 100 %, in the pixels of the zoom of now.
int px(double length);

// Lengths that follow the zoom by themselves.
void fixWidth(QWidget* widget, int length);
void fixHeight(QWidget* widget, int length);
void limitWidth(QWidget* widget, int least); // a minimum
void limitGrowth(QWidget* widget, int most); // the largest width
// The application's font, larger or smaller by `points`, also after the next zoom.
void useFont(QWidget* widget, double points, QFont::Weight weight = QFont::Normal);
// The system's font of one width for all letters, as large as the application's, also after the next zoom.
void useFixedFont(QWidget* widget);

// The application's font, larger or smaller by `points`.
QFont scaledFont(double points, QFont::Weight weight = QFont::Normal);
// Inter where it is installed, else the desktop's font, 9 points at least.
QFont baseFont();

// Lengths at 100 %, at most what the screen has room for.
void resizeDialog(QDialog* dialog, int width, int height);

} // namespace fourfold::ui
