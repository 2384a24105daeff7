// SPDX-License-Identifier: GPL-3.0-or-later
// Every colour of the desktop, in a light and a dark set. Hues of the data follow Okabe and Ito (2008) and are the same
// in both; text colours are separate and keep a contrast of at least 4.5 on their background. Two colours of one
// picture that differ in nothing else are at least 15 apart in CIE L*a*b*, also without red, green or blue cones.
#pragma once

#include "app/view/tone.h"

#include <QColor>
#include <QPalette>

#include <array>

class QWidget;

namespace fourfold::ui {

using view::Tone;

struct Theme {
    bool dark = false;
    // surfaces and lines
    QColor window, panel, field, alternate, button, line, grid, idle;
    QColor fieldLine; // around a field or a box to tick: 3 to 1 against the ground
    // text
    QColor text, muted, accentText, good, warning, bad, onAccent;
    // selection and the one filled button
    QColor accent, selection, selectionText, primary, primaryHover, primaryPressed;
    // data
    QColor weights, gradients, optimizer, activations, buffers;
    QColor forward, backward, weightGradient, communication;
    QColor rest; // what is none of these
    std::array<QColor, 7> curves; // thin lines, told apart by nothing else
    QColor onDarkBar, onLightBar; // numerals inside bars

    [[nodiscard]] QPalette palette() const;
    [[nodiscard]] QColor toneColor(Tone tone) const; // for text
    [[nodiscard]] QString styleSheet() const;
};

const Theme& lightTheme();
const Theme& darkTheme();
// The set that a widget is drawn with, read from its palette: there is no other place that knows.
const Theme& themeOf(const QWidget* widget);

} // namespace fourfold::ui
