// SPDX-License-Identifier: GPL-3.0-or-later
// Measured tables as the desktop shows them: the jobs that they hold, and each as a series over GPUs.
#pragma once

#include "core/calibration/measured_table.h"

#include <QList>
#include <QPointF>
#include <QString>

#include <filesystem>
#include <vector>

namespace fourfold::ui {

Expected<MeasuredTable> readTable(const std::filesystem::path& csv, const Presets& presets);

// Rows of a table that differ in layout and number of GPUs alone.
struct TableJob {
    QString name; // "Llama 3.1 8B, H100, 1,024 x 8,192"
    ResolvedPlan plan; // of its first row
    int rows = 0;
    QList<QPointF> best; // GPUs, highest measured tokens/s per GPU; by GPUs
};
// Most rows first.
std::vector<TableJob> jobsOf(const MeasuredTable& table);
// Whether the table's job is about the model and GPU of a plan.
bool sameJob(const TableJob& job, const ResolvedPlan& plan);

} // namespace fourfold::ui
