// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a comparison as bars.
#pragma once

#include "core/predict/prediction.h"
#include "core/report/chart.h"

#include <optional>
#include <span>
#include <string>

namespace fourfold::view {

// The stage that takes the most memory; null without stages.
const StageMemory* fullest(const Prediction& prediction);
// Of 1; the peak is that of the plan's precision where the GPU has one, else BF16's.
std::optional<double> mfu_of(const Prediction& prediction);
// The predicted one at a measured throughput: both count the same FLOPs per token.
std::optional<double> mfu_at(const Prediction& prediction, const std::optional<double>& measured_tps_per_gpu);

struct ComparedEntry {
    std::string name;
    const Prediction* prediction = nullptr; // null: its plan cannot be predicted
    std::optional<double> measured_tps_per_gpu = {};
};
enum class ComparedFigure { throughput, mfu, memory, step_time };
inline constexpr std::size_t kComparedFigures = 4;
// Throughput and MFU have a row more for each entry that was measured. Memory is by what the fullest stage holds, the
// step by its exposed parts, of those that any entry has; both have a row an entry, and no parts where nothing is
// known.
BarChart comparison_bars(std::span<const ComparedEntry> entries, ComparedFigure figure);

} // namespace fourfold::view
