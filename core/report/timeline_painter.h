// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a timeline on any Cairo surface: the one picture behind SVG, PDF and PNG.
#pragma once

#include "core/profile/kernel_timeline.h"
#include "core/report/picture_file.h"
#include "core/schedule/steady_part.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

namespace fourfold {

// Grows with the number of stages up to a limit; tracks get thinner beyond it.
PictureSize timeline_picture_size(const Timeline& timeline);

// Title, one track a stage, time axis in seconds, legend of the kinds that occur. Above kMostRectangles spans each
// track is drawn column by column: the kind that takes most of the column's time, as strong as the share that is busy.
// Micro-batches without spans are hatched, and the legend says how many they are.
inline constexpr std::size_t kMostRectangles = 20'000;
void paint_timeline(cairo_t* cairo, const ListedStep& step, const std::string& title);

// Several, one under the other on one axis of time.
struct TitledTimeline {
    const Timeline* timeline = nullptr; // of stages, or
    std::string title;
    std::optional<SteadyPart> steady = {};
    const KernelTimeline* kernels = nullptr; // of streams, whose kernels have their names where there is room
};
PictureSize timelines_picture_size(std::span<const TitledTimeline> timelines);
// Tracks as high as the size leaves room for; one that is too small for all words is drawn smaller as a whole.
// `part`: of the axis, else all of it.
using TimePart = std::optional<std::pair<double, double>>; // seconds, the later one greater
void paint_timelines(
    cairo_t* cairo, std::span<const TitledTimeline> timelines, const PictureSize& size, const TimePart& part = {});

// Step between two ticks of an axis over `length` with about `wanted` ticks: 1, 2 or 5 times a power of ten.
double tick_step(double length, int wanted);
// "0.25 s", "40 ms", "12.5 us" with the digits that `step` needs.
std::string tick_text(double seconds, double step);

} // namespace fourfold
