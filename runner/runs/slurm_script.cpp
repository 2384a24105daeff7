// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/slurm_script.h"

#include "runner/protocol/slurm_time.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {

constexpr double kMostAhead = 65535; // seconds that sbatch takes

} // namespace

std::string slurm_script(const Target& target, const std::string& run, int nodes, bool saves)
{
    const SlurmSettings& slurm = *target.slurm;
    std::string out = "#!/bin/sh\n# Written by Fourfold for run " + run + ".\n";
    const auto option = [&](const std::string& text) { out += "#SBATCH " + text + "\n"; };
    const auto value = [&](const char* name, const std::string& text) {
        if (!text.empty())
            option(std::string(name) + "=" + text);
    };
    const auto asked = [&](const std::string& name) {
        return std::any_of(slurm.lines.begin(), slurm.lines.end(),
            [&](const std::string& line) { return line.substr(0, line.find_first_of("= ")) == name; });
    };
    option("--job-name=fourfold-" + run.substr(run.size() > 8 ? run.size() - 8 : 0));
    option("--nodes=" + std::to_string(nodes));
    option("--ntasks-per-node=1");
    value("--partition", slurm.partition);
    value("--account", slurm.account);
    value("--qos", slurm.qos);
    value("--time", slurm.time);
    value("--gres", slurm.gres);
    value("--constraint", slurm.constraint);
    value("--reservation", slurm.reservation);
    // The ranks share the cores themselves; without a number of cores a task would get one.
    const bool cores = asked("--cpus-per-task");
    if (!cores && !asked("--exclusive"))
        option("--exclusive");
    option("--output=@FOLDER@/slurm/job-%j.log");
    option("--open-mode=append");
    // A minute before the time limit agents and ranks are told, and end the run with its events complete. Where ranks
    // save a checkpoint first, the agents alone are told, early enough for the longest save that the target allows
    // (SIGURG: ranks and their helpers ignore it), and stop the run when it takes as long as is left.
    const double save_s = saves ? std::ceil(target.save_s) : 0;
    option(save_s > 0
            ? "--signal=URG@" + std::to_string(static_cast<int>(std::min(kJobEndSeconds + save_s, kMostAhead)))
            : "--signal=TERM@60");
    option(slurm.requeue ? "--requeue" : "--no-requeue");
    for (const std::string& line : slurm.lines)
        option(line);
    out += "\n# One agent on each node; it starts and watches the ranks there.\nexec srun --ntasks-per-node=1 "
           "--cpu-bind=none ";
    out += cores ? "--cpus-per-task=\"$SLURM_CPUS_PER_TASK\" " : "";
    out += "--kill-on-bad-exit=1 --output=@FOLDER@/slurm/node%n-%j.log \\\n    @AGENT@ slurm-node @FOLDER@\n";
    return out;
}

} // namespace fourfold
