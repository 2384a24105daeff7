// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/tracks.h"

#include "core/base/text.h"
#include "core/report/chart.h"

#include <algorithm>
#include <array>

namespace fourfold {

KindLook look_of(std::size_t kind)
{
    constexpr std::array<unsigned, kTrackKinds> kColours{okabe::kBlue, okabe::kOrange, okabe::kVermilion,
        okabe::kPurple, okabe::kSky, okabe::kYellow, okabe::kGreen, okabe::kGrey, // spans
        okabe::kBlue, okabe::kOrange, okabe::kSky, okabe::kGreen, okabe::kPurple, okabe::kGrey}; // kernels
    return {kind < kSpanKinds ? name(static_cast<SpanKind>(kind)) : name(static_cast<KernelKind>(kind - kSpanKinds)),
        kColours[kind]};
}

std::string Tracks::words(const TrackSpan& span) const
{
    if (span.about < 0)
        return {};
    return facts != nullptr ? printable((*facts)[std::size_t(span.about)].name) : std::to_string(span.about);
}

Tracks tracks_from(const TitledTimeline& timeline)
{
    Tracks tracks{timeline.title, {}, {}, timeline.steady, 0, nullptr};
    if (timeline.kernels != nullptr) {
        tracks.length_s = timeline.kernels->length_s;
        tracks.facts = &timeline.kernels->facts;
        for (const KernelTrack& track : timeline.kernels->tracks) {
            for (const KernelSpan& span : track.spans)
                tracks.spans.push_back(
                    {int(tracks.names.size()), kSpanKinds + std::size_t((*tracks.facts)[span.facts].kind), span.start_s,
                        span.end_s, int(span.facts)});
            tracks.names.push_back(printable(track.name));
        }
    } else {
        tracks.length_s = timeline.timeline->length_s;
        for (int stage = 0; stage < timeline.timeline->stages; ++stage)
            tracks.names.push_back("stage " + std::to_string(stage));
        for (const Span& span : timeline.timeline->spans)
            tracks.spans.push_back({span.stage, std::size_t(span.kind), span.start_s, span.end_s, span.micro_batch});
    }
    std::ranges::stable_sort(tracks.spans, {}, &TrackSpan::track);
    for (const TrackSpan& span : tracks.spans)
        tracks.length_s = std::max(tracks.length_s, span.end_s);
    return tracks;
}

} // namespace fourfold
