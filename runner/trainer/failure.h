// SPDX-License-Identifier: GPL-3.0-or-later
// How a rank says that it failed: one line on standard error, one `error` event, an exit status.
#pragma once

#include "core/base/json.h"
#include "core/plan/layout.h"
#include "runner/trainer/comm/flight_recorder.h"
#include "runner/trainer/metrics/event_writer.h"

#include <filesystem>
#include <memory>
#include <string>

namespace fourfold::trainer {

// What an error event says about this rank; each member is set as soon as it is known, before any other thread runs.
struct Identity {
    std::shared_ptr<EventWriter> events;
    std::shared_ptr<FlightRecorder> recorder;
    Json coordinates = nullptr;
    std::filesystem::path flight_file; // gets the last collectives when this rank fails
    double timeout_s = 0;
};
Identity& identity();

Json to_json(const Coordinates& at);

// LibTorch's messages carry a backtrace after the first line.
std::string first_line(const std::string& text);
// "oom", "hang" or "fail": what the user has to do differs.
std::string kind_of(const std::string& what);
// Writes line and event; returns the problem's exit status.
int report(const Problem& problem, const std::string& kind);

} // namespace fourfold::trainer
