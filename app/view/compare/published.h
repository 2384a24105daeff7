// SPDX-License-Identifier: GPL-3.0-or-later
// Measured tables as they are shown: the jobs that they hold, and each as a series over GPUs.
#pragma once

#include "core/calibration/measured_table.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::view {

Expected<MeasuredTable> read_table(const std::filesystem::path& csv, const Presets& presets);

// Rows of a table that differ in layout and number of GPUs alone.
struct TableJob {
    std::string name; // "Llama 3.1 8B, H100, 1,024 x 8,192"
    ResolvedPlan plan; // of its first row
    int rows = 0;
    std::vector<std::pair<double, double>> best; // GPUs, highest measured tokens/s per GPU; by GPUs
};
// Most rows first.
std::vector<TableJob> jobs_of(const MeasuredTable& table);
// Those with a measured speed that are about the model and GPU of one of these plans (all of them, where none is), the
// first few.
std::vector<TableJob> jobs_beside(const MeasuredTable& table, const std::vector<const ResolvedPlan*>& plans);

} // namespace fourfold::view
