// SPDX-License-Identifier: GPL-3.0-or-later
// A trace of a step from a file, whoever wrote it: PyTorch's profiler (kernels of a rank) or Fourfold (spans of the
// stages: of the trainer's traced step, a rehearsal, a prediction).
#pragma once

#include "core/profile/difference.h"
#include "core/profile/kernel_timeline.h"
#include "core/report/table/table.h"
#include "core/schedule/steady_part.h"

#include <filesystem>
#include <optional>
#include <string>

namespace fourfold {

struct StepTrace {
    std::string name; // for people
    std::optional<Profile> profile; // or
    std::optional<Timeline> stages;
    std::optional<SteadyPart> steady = {}; // what those leave out
};
// Also of a file that gzip packed.
Expected<StepTrace> read_step_trace(const std::filesystem::path& file);
// By the beginning of the file: for what is dragged over a window.
bool looks_like_trace(const std::filesystem::path& file);

Table parts_table(const std::vector<PartDifference>& parts);
Table collectives_table(const std::vector<CollectiveUse>& uses);
// A row a span: track, kernel, kind, layer, times, group, bytes and what it reached of each.
Table kernels_table(const KernelTimeline& timeline);

} // namespace fourfold
