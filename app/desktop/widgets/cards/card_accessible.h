// SPDX-License-Identifier: GPL-3.0-or-later
// What assistive technology is told of a painted card: that it is a chart, its name, and in words what it shows.
#pragma once

namespace fourfold::ui {

// Once a program, before the first window.
void installCardAccessibility();

} // namespace fourfold::ui
