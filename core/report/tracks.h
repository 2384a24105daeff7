// SPDX-License-Identifier: GPL-3.0-or-later
// What a picture draws of a timeline, be its tracks stages or streams: named tracks with spans of some kind.
#pragma once

#include "core/report/timeline_painter.h"

#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// SpanKind's, behind them KernelKind's.
inline constexpr std::size_t kSpanKinds = std::size_t(SpanKind::other) + 1;
inline constexpr std::size_t kTrackKinds = kSpanKinds + std::size_t(KernelKind::copy) + 1;
struct KindLook {
    std::string_view name;
    unsigned rgb = 0;
};
KindLook look_of(std::size_t kind);

struct TrackSpan {
    int track = 0;
    std::size_t kind = 0;
    double start_s = 0, end_s = 0;
    int about = -1; // of a stage the micro-batch, -1: of the step; of a stream an index of the kernels' facts
};

struct Tracks {
    std::string title;
    std::vector<std::string> names;
    std::vector<TrackSpan> spans; // track by track
    std::optional<SteadyPart> steady;
    double length_s = 0; // to the end of the last span
    const std::vector<KernelFacts>* facts = nullptr; // where tracks are streams
    [[nodiscard]] std::string words(const TrackSpan& span) const; // to stand on it; empty: none
};
// It outlives them.
Tracks tracks_from(const TitledTimeline& timeline);

} // namespace fourfold
