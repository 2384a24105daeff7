// SPDX-License-Identifier: GPL-3.0-or-later
// This rank's place in the job, as the agent that started it says.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <string>

namespace fourfold::trainer {

struct Job {
    int rank = 0;
    int world_size = 1;
    int local_rank = 0; // among the ranks of this node: the GPU to use
    std::string master_address = "127.0.0.1"; // numeric address of rank 0's node
    int master_port = 0; // 0 only where world_size is 1
    std::string address = "127.0.0.1"; // numeric address of this node on the data plane
    std::string backend; // "gloo" (CPUs), "nccl" (GPUs), empty = as the plan's hardware
    std::string run_id;
    std::string token; // by which its ranks know each other (runner/net/proof.h); empty only where world_size is 1
    int listener = -1; // of rank 0: the descriptor of the socket that listens on master_port, where the agent opened it
    double timeout_s = 120; // of a rendezvous and of each collective
    std::filesystem::path plan_file;
    std::filesystem::path run_folder;
};

// The variable that holds `Job::token`.
inline constexpr char kTokenVariable[] = "FOURFOLD_TOKEN";

// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT, FOURFOLD_ADDRESS, FOURFOLD_BACKEND, FOURFOLD_RUN,
// FOURFOLD_TIMEOUT_S, FOURFOLD_LISTENER and FOURFOLD_TOKEN, which it wipes from the environment. Without RANK and
// WORLD_SIZE it is a job of one rank. Errors name the variable.
Expected<Job> job_from_environment(std::filesystem::path plan_file, std::filesystem::path run_folder);

} // namespace fourfold::trainer
