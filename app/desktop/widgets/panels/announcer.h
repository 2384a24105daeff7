// SPDX-License-Identifier: GPL-3.0-or-later
// Words that a screen reader says as they come, wherever the focus is: what changed outside the field that has it.
#pragma once

class QString;
class QWidget;

namespace fourfold::ui {

// Says `words` once, as a notification of the window that `from` is in; not while that window is hidden.
void announce(const QWidget& from, const QString& words);

// Once a program, before the first window.
void installAnnouncements();

} // namespace fourfold::ui
