// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in the way of a job in Slurm's queue, as far as its login host can say. Findings have the form of
// node_checks.h.
#pragma once

#include "core/base/json.h"

#include <string>
#include <vector>

namespace fourfold {

// One line of `sinfo -h -o %P|%a|%T|%D|%l|%G|%c|%m|%f`: the nodes of a partition that are in one state.
struct SlurmPartition {
    std::string name, state; // state: "idle", "mixed", "down*" ...
    bool is_default = false, up = false;
    int nodes = 0;
    std::string limit, gres; // "1-00:00:00" or "infinite"; "gpu:8" or "(null)"
    int cores = 0; // of the smallest of these nodes, as the next
    double memory_gib = 0;
    std::string features; // "h100,ndr"; empty where there are none
};
std::vector<SlurmPartition> parse_sinfo(const std::string& text);

// What `wanted` (partition, nodes, time, gres as in a target; empty or 0 = not said) meets there.
Json partition_findings(const std::vector<SlurmPartition>& all, const Json& wanted);
// Asks Slurm's programs on this host.
Json slurm_checks(const Json& wanted);

// All partitions in their order, for those who look for one: {"name", "default", "up", "limit", "gres", "features",
// "nodes", "usable" (not down or drained), "idle", "cores", "memory_gib"}; nodes of another GRES are an entry of their
// own. Null where there are more of them than a cluster has.
Json partitions_json(const std::vector<SlurmPartition>& all);
// {"partitions": [...]}; {} on a host without Slurm; {"silent": what was said} where it does not answer.
Json slurm_partitions();

} // namespace fourfold
