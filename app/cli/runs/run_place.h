// SPDX-License-Identifier: GPL-3.0-or-later
// How commands name where something runs: a target, or a run that was launched before.
#pragma once

#include "app/cli/command.h"
#include "app/cli/runs/run_progress.h"

#include <stop_token>
#include <string>

namespace fourfold::cli {

// The target of `probe` and `gc`: `local` when left out, by place or as --target, as `run` has it.
void add_target(CLI::App& command, std::string& target);

// --accept-new-hosts of every command that logs in.
void add_accept_new_hosts(CLI::App& command, bool& accept);

// RUN and --target of `attach` and `stop`.
struct RunPlace {
    std::string run = "last", target; // target empty: a run of this computer's history
    void add_to(CLI::App& command, bool run_required);
    // The run's id in the history; with a target it is looked for on the hosts and taken into the history first.
    [[nodiscard]] Expected<std::string> find(RunObserver& observer, const std::stop_token& stop) const;
    // What following it would open and store.
    [[nodiscard]] Expected<LaunchPreview> preview() const;
};

} // namespace fourfold::cli
