// SPDX-License-Identifier: GPL-3.0-or-later
// What assistive technology is told of a stack of pages: that it holds the one on show, as any other widget that only
// arranges. Qt tells of a layered pane without a name, which Orca says each time the focus comes into one.
#pragma once

namespace fourfold::ui {

// Once a program, before the first window.
void installStackAccessibility();

} // namespace fourfold::ui
