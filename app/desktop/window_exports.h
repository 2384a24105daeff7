// SPDX-License-Identifier: GPL-3.0-or-later
// What is on show, written to a file or shown as a table.
#pragma once

namespace fourfold::ui {

class MainWindow;

void askExportTimeline(MainWindow& window); // of the current plan
void askExportReport(MainWindow& window); // of the page on show, or of the current plan
void showFocusedAsTable(MainWindow& window); // the picture with the focus, else the first of the page

} // namespace fourfold::ui
