// SPDX-License-Identifier: GPL-3.0-or-later
// The pipeline timeline as a file: Chrome trace events, SVG, PDF or PNG (by the file name's ending).
#pragma once

#include "core/report/timeline_painter.h"
#include "core/schedule/chrome_trace.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace fourfold {

// Whether the ending is one of the four: for a command that takes long before it has a timeline.
Expected<void> check_timeline_file(const std::filesystem::path& file);
// Writes F.json, F.svg, F.pdf or F.png atomically; any other ending is a bad_input Problem that lists the four.
// `asked`: the size of a picture (asked_size()), else timeline_picture_size().
Expected<void> export_timeline(const ListedStep& step, const std::string& title, const std::filesystem::path& file,
    const std::optional<PictureSize>& asked = {});
// All of them in one picture, F.svg, F.pdf or F.png, on one axis of time, or on a part of it.
Expected<void> export_timelines(std::span<const TitledTimeline> timelines, const std::filesystem::path& file,
    const std::optional<PictureSize>& asked = {}, const TimePart& part = {});

} // namespace fourfold
