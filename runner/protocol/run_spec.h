// SPDX-License-Identifier: GPL-3.0-or-later
// Everything an agent needs to run one node's share of a run; stored as spec.json in the node's run folder.
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <map>
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
