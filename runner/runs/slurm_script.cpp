// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/slurm_script.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

std::string slurm_script(const Target& target, const std::string& run, int nodes)
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
    // A minute before the time limit the agents are told, and end the run with its events complete.
    option("--signal=TERM@60");
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
