// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of a step beside what was predicted of it: two timelines on one axis, and the difference by part.
#pragma once

#include "app/view/prediction/timeline_scene.h"
#include "core/history/store.h"
#include "core/profile/step_trace.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold::view {

// What traces stand beside: a prediction, or, of a rehearsal or a run, the step that was planned for it.
struct TraceBeside {
    std::string name;
    std::shared_ptr<const Prediction> prediction; // or
    std::optional<Timeline> stages;
};

// The step that a run traced, and the one that its plan predicts.
struct RunTrace {
    StepTrace trace;
    TraceBeside beside;
};
Expected<RunTrace> trace_of_run(const RunDetail& run);

// Several are ranks of one training; one alone may be of stages (Fourfold's own).
using Traces = std::vector<std::shared_ptr<const StepTrace>>;

// What files hold, and why some hold nothing of use.
struct ReadTraces {
    Traces traces;
    std::vector<Problem> problems;
};
// Not for the thread that draws: a trace may be gigabytes.
ReadTraces read_traces(const std::vector<std::filesystem::path>& files, const std::stop_token& stop);
// Ranks stand beside each other; of stages there is one trace at a time, the newest.
void add_traces(Traces& there, const Traces& read);

// The profiler's numbers of the steps that all traces have whole, rising; empty where they mark none.
std::vector<std::int64_t> common_steps(const Traces& traces);
// The ranks of the traces in order; those that say none are numbered behind the others.
std::vector<int> ranks_of(const Traces& traces);

// By part of a step: predicted, measured, difference, of all stages; the step itself comes last.
Table stage_parts(const ListedStep& predicted, const ListedStep& measured);

struct TraceStudy {
    TimelineScene predicted, measured;
    double length_s = 0; // of the longer one: of their common axis
    std::string predicted_words, measured_words; // for the two pictures
    std::vector<std::string> remarks; // what does not fit together
    // A table of parts (predicted, measured, difference) and one of collectives for each rank; of stages one of parts.
    struct Rank {
        int rank = -1; // -1: all stages
        Table parts, collectives;
    };
    std::vector<Rank> ranks;
};
// `step`: the profiler's number; -1: the last one. Takes a while for many kernels. Without traces only what is
// predicted, of all stages as far as there is room; fails where a trace has no such step.
Expected<TraceStudy> study_traces(const Traces& traces, const TraceBeside& beside, std::int64_t step = -1);

} // namespace fourfold::view
