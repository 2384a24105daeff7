// SPDX-License-Identifier: GPL-3.0-or-later
// Scenes as one picture on one axis, be their rows stages or streams with kernels.
#pragma once

#include "app/view/trace/trace_study.h"
#include "core/report/timeline_export.h"

namespace fourfold::view {

struct TitledScene {
    const TimelineScene* scene = nullptr;
    std::string title;
};
// What a study shows: predicted, and measured where a trace is there. `name`: of what was predicted. The study outlives
// them.
std::vector<TitledScene> titled_scenes(const TraceStudy& study, const std::string& name);
// F.svg, F.pdf or F.png. Kernels have their names where there is room.
Expected<void> export_scenes(const std::vector<TitledScene>& scenes, const TimePart& part,
    const std::filesystem::path& file, const std::optional<PictureSize>& asked = {});

} // namespace fourfold::view
