// SPDX-License-Identifier: GPL-3.0-or-later
// A notification of the desktop, for what happens while somebody looks elsewhere.
#pragma once

#include <QString>

class QWidget;

namespace fourfold::ui {

// Where `window` is not the active one: marks it in the task bar, and shows the words by the desktop's notification
// service (org.freedesktop.Notifications, version 1.2) where there is one. Never waits.
void notify(QWidget& window, const QString& title, const QString& text, bool urgent = false);

} // namespace fourfold::ui
