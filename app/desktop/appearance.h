// SPDX-License-Identifier: GPL-3.0-or-later
// Light, dark, or as the desktop has it: palette, style sheet and font of the whole program.
#pragma once

#include "app/desktop/look/theme.h"

#include <QString>

namespace fourfold::ui {

enum class ThemeChoice { system, light, dark };
QString spelling(ThemeChoice choice); // for settings
ThemeChoice themeChoice(const QString& spelling); // unknown: system

// Fusion style and the base font; numbers are read and written with a decimal point. Call once, before the first
// window; remembers whether the desktop is dark.
void prepareAppearance();
void applyTheme(ThemeChoice choice);

} // namespace fourfold::ui
