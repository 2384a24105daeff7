// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/history/store.h"
#include "runner/runs/launch_plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

// data_folder()/runs/<id>, on this computer.
std::filesystem::path run_record_folder(const std::string& run);

// In that folder: another program wants the run to end. The program that starts, follows or restarts it looks for this.
inline constexpr const char* kStopFile = "stop";
bool was_asked_to_stop(const std::filesystem::path& folder);

// What is needed to find a run's nodes again. Fails where it is not here, as of an imported run.
Expected<Json> launch_record(const std::string& run);
// The target of a run that this computer launched or took over. Fails as the above.
Expected<Target> recorded_target(const std::string& run);

// The run's nodes are reached otherwise by now: at other addresses, by another user or key, over other hosts.
Expected<void> record_ways(const std::string& run, const std::vector<TargetHost>& hosts);

// Writes the record anew.
Expected<void> record_launch(const LaunchPlan& plan, const std::string& run);
// Creates the run in the history, and its folder with what another program needs to find its nodes again.
Expected<void> record_run(
    HistoryStore& store, const LaunchPlan& plan, const std::string& run, const std::string& note = {});

} // namespace fourfold
