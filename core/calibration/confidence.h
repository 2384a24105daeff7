// SPDX-License-Identifier: GPL-3.0-or-later
// From left-out errors to what a stack's preset says of its own reliability: half-widths of intervals by GPU type and
// band, how sharply runs fit or not, and which regimes were measured at all.
#pragma once

#include "core/calibration/score_card.h"
#include "core/calibration/widths.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fourfold {

struct GpuConfidence {
    std::map<std::string, double> constants; // interval_node, interval_tens, ... by documented name
    MeasuredDomain domain;
};

struct StackConfidence {
    std::string stack; // preset id
    std::map<std::string, double> constants; // of every GPU
    std::map<std::string, GpuConfidence> gpus; // by GPU id
    std::map<std::string, std::set<std::string>> releases; // GPUs that rows of a release ran on
};

// From the first left-out view of each card, of the rows of its core that are no anomaly; cards without one (never
// fitted) are passed over. Half-widths of the step time are those of `widths`.
inline constexpr int kFewRows = 20;
std::vector<StackConfidence> confidence_of(const std::vector<ScoreCard>& cards, const Widths& widths);

// Half-width of the 90 % interval of ln(device memory) from labels alone: the spread with which runs fit or not around
// the capacity, by maximum likelihood (a probit curve with 2 % of labels taken as mistaken). `rooms`: ln(capacity /
// predicted device memory) of cells that ran and of cells that ran out of memory.
double device_memory_width(const std::vector<double>& ran, const std::vector<double>& out_of_memory);

// Writes them into <presets>/stacks/<id>.json, leaving everything else as it stands.
Expected<void> write_confidence(const StackConfidence& confidence, const std::filesystem::path& presets);
// What holds for every stack of the folder, measured by these rows or by nobody, into all of them.
Expected<void> write_widths(const Widths& widths, const std::filesystem::path& presets);

} // namespace fourfold
