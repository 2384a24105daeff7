// SPDX-License-Identifier: GPL-3.0-or-later
// What assistive technology is told of a chooser: what it stands at. Qt 6.4 tells that as a value, which Orca does not
// read of a combo box: it looks for a selected child or for text.
#pragma once

namespace fourfold::ui {

// Once a program, before the first window.
void installChooserAccessibility();

} // namespace fourfold::ui
