// SPDX-License-Identifier: GPL-3.0-or-later
// Asking for the name of a file that is written, and telling that it was.
#pragma once

#include <QString>

class QWidget;

namespace fourfold::ui {

// Starts in the folder of the last file. `filters` as for QFileDialog; a name without an ending gets that of the filter
// on show, at first the one with `ending`, before it is asked whether a file of that name is to be replaced. Empty:
// cancelled.
QString askSaveFile(
    QWidget* parent, const QString& title, const QString& name, const QString& filters, const QString& ending);
// In the status bar of the window that `from` is in.
void sayWritten(const QWidget* from, const QString& file);

} // namespace fourfold::ui
