// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a file that was dropped on the window, opened from its menu or named on the command line.
#pragma once

#include "app/models/shared/dropped_item.h"
#include "app/view/trace/trace_study.h"

namespace fourfold::ui {

class MainWindow;
class TraceDialog;

void openItem(MainWindow& window, const DroppedItem& item);
// The window's one picture of kernels, on show.
TraceDialog& showKernels(MainWindow& window);
void showTrace(MainWindow& window, const StepTrace& trace, const view::TraceBeside& beside);
void askOpenTraces(MainWindow& window);
void askOpenTracker(MainWindow& window); // a folder of TensorBoard or Weights & Biases

} // namespace fourfold::ui
