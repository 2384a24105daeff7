// SPDX-License-Identifier: GPL-3.0-or-later
// How a job says that it failed: the rank that knows first writes one line on standard error and one `error` event; the
// others leave with a line that names it. Each rank has an exit status.
#pragma once

#include "core/base/json.h"
#include "core/layout/layout.h"
#include "runner/trainer/comm/flight_recorder.h"
#include "runner/trainer/comm/watch.h"
#include "runner/trainer/job.h"
#include "runner/trainer/metrics/event_writer.h"

#include <atomic>
#include <memory>
#include <string>

namespace fourfold::trainer {

// What an error event says about this rank; each member is set as soon as it is known. A Watch reads it too.
struct Identity {
    Job job;
    std::shared_ptr<EventWriter> events;
    std::shared_ptr<ProgressWriter> page; // says why this rank failed even where no event can be written
    Json coordinates = nullptr;
    std::shared_ptr<Watch> watch; // null: a job of one rank, or no meeting point
    std::atomic<std::shared_ptr<FlightRecorder>> recorder; // set last
};
Identity& identity();

Json to_json(const Coordinates& at);

// LibTorch's messages carry a backtrace after the first line.
std::string first_line(const std::string& text);
// "oom", "hang" or "fail": what the user has to do differs.
std::string kind_of(const std::string& what);
// Keeps some memory back, so that even a rank that may not have any more can tell so.
void prepare_to_report();
// Tells it, unless another rank of the job told first; returns the problem's exit status. One with the code `cancelled`
// is another rank's, who tells it: this one waits for that. What connects this rank to the others must outlive the
// call: where it closes, they fail as well.
int report(const Problem& problem, const std::string& kind);
// The same for an exception of LibTorch: a peer gone, a time-out, no memory. Names the ranks that are gone.
int report_exception(const std::string& what);
// What a Watch hears: ends the process, unless it is telling already.
void leave_after(const std::string& told);

} // namespace fourfold::trainer
