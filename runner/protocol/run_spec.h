// SPDX-License-Identifier: GPL-3.0-or-later
// Everything an agent needs to run one node's share of a run; stored as spec.json in the node's run folder.
#pragma once

#include "core/base/json.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct RankPlace {
    int rank = 0; // in the whole job
    int local_rank = 0; // on its node
    Json coordinates; // {"tp": 0, "cp": 0, "pp": 0, "dp": 0}
};

// A file that the run folder shows under `name`: from the node's store, or a file of the node that has this content.
struct RunFile {
    std::string name; // relative to the run folder, "bin/libc10.so"
    std::string sha256; // empty for files used in place on the client's own computer
    uint64_t size = 0;
    std::string in_place; // absolute path; empty = the store
};

// Seconds; 0 switches a limit off where its comment says so.
struct RunLimits {
    double prelude_s = 60;
    double first_step_s = 900; // as stall_s, before the first step
    double stall_s = 60; // stalled without a step for max(stall_s, stall_steps * median step); 0 = never
    double stall_steps = 10;
    double hang_s = 60; // a stalled run that does not recover for so long is ended as `hang`; 0 = never
    double collective_s = 0; // time-out of the trainer's collectives; 0 = the trainer's own
    double lease_s = 0; // the ranks stop when no client has followed the run for so long; 0 = they go on
    double save_s = 600; // how long ranks that are asked to stop may go on to end their step and save a checkpoint
};
// Their keys, and what a target file may ask for.
struct RunLimit {
    const char* key;
    double RunLimits::*member;
    double least, most;
};
inline constexpr double kWeekSeconds = 7 * 86400;
inline constexpr std::array<RunLimit, 8> kRunLimits{{
    {"prelude_s", &RunLimits::prelude_s, 1, 3600},
    {"first_step_s", &RunLimits::first_step_s, 1, kWeekSeconds},
    {"stall_s", &RunLimits::stall_s, 0, kWeekSeconds},
    {"stall_steps", &RunLimits::stall_steps, 1, 1e6},
    {"hang_s", &RunLimits::hang_s, 0, kWeekSeconds},
    {"collective_s", &RunLimits::collective_s, 0, kWeekSeconds},
    {"lease_s", &RunLimits::lease_s, 0, 52 * kWeekSeconds},
    {"save_s", &RunLimits::save_s, 0, kWeekSeconds},
}};

// An image that the ranks run in, through `apptainer exec` (or `singularity exec`) on the node.
struct Container {
    std::string image; // absolute path on the node, "~/...", or docker://, oras://, library://, shub:// reference
    std::vector<std::string> binds; // "/data" or "/data:/mnt[:ro]"
};

struct RunSpec {
    std::string run; // id; also the cookie in the environment of every process of the run
    int node = 0, nodes = 1;
    std::string host; // as the user calls it, for messages
    std::string address; // numeric, of this node on the data plane
    int world_size = 1;
    std::vector<RankPlace> ranks;
    std::string program; // name of the trainer among `files`
    std::vector<RunFile> files;
    bool library_path = false; // the program finds its libraries in the run folder's bin/
    Json plan; // what `--plan` gets
    std::map<std::string, std::string> environment;
    std::string backend; // "gloo", "nccl" or empty
    double grace_s = 2; // from asking the ranks to stop to SIGKILL
    bool saves = false; // ranks that are asked to stop save a checkpoint first: they get limits.save_s while they move
    RunLimits limits;
    std::vector<std::string> prelude; // shell lines, one command each
    std::optional<Container> container;
    std::string interface; // empty = the one that carries `address`
    std::string numa = "none"; // "gpu", "spread", "none"
    bool look_first = false, mixed_gpus = false; // of a Slurm job: its nodes look at themselves before the ranks start
    std::vector<std::string> group_writable; // folders above the node's base folder that their group may write
    Json start_facts; // keys that the run's `start` event gets when it lacks them
};

Json to_json(const RunSpec& spec);
// Checks everything that ends up in paths or in the environment.
Expected<RunSpec> run_spec_from_json(const Json& json);

// [A-Za-z_][A-Za-z0-9_]*, not one of the variables that Fourfold sets itself.
Expected<void> check_environment(const std::map<std::string, std::string>& environment, const std::string& where);

// "<base>/runs/<run>" of the first node; further nodes have "node<k>" inside it, so that nodes may share a file system.
std::string run_folder_name(const std::string& run, int node);

} // namespace fourfold
