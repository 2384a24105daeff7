// SPDX-License-Identifier: GPL-3.0-or-later
// Real ranks for tests: processes on this computer that meet over loopback.
#pragma once

#include "core/base/json.h"
#include "tests/temporary_folder.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fourfold::testing {

using test::TemporaryFolder;

// Exit status of a rank, or 128 + signal, or -1 when it had to be killed after the time-out.
class Ranks {
public:
    // Starts `count` processes with RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT, FOURFOLD_ADDRESS and
    // FOURFOLD_TOKEN set, one thread each; output goes to `folder`/rank<r>.log.
    Ranks(int count, const std::vector<std::string>& command, const std::filesystem::path& folder,
        const std::map<std::string, std::string>& environment = {});
    // Kills what still runs, by its id.
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    std::vector<int> wait(std::chrono::seconds limit);
    void signal(int rank, int number);
    [[nodiscard]] pid_t pid(int rank) const { return pids_.at(std::size_t(rank)); }
    // Files that the rank writes from now on may have so many bytes: as on a full disk, its writes fail. SIZE_MAX: any.
    void limit_file_size(int rank, std::size_t bytes);
    [[nodiscard]] std::string log(int rank) const;
    // The events of the rank so far, in order.
    [[nodiscard]] std::vector<Json> events(int rank) const;
    // Waits until the rank wrote `count` events of a kind; false after `limit`.
    bool wait_for_events(int rank, const std::string& event, int count, std::chrono::seconds limit) const;

private:
    std::filesystem::path folder_;
    std::vector<pid_t> pids_; // -1: gone
    std::vector<int> statuses_;
};

// What tells a rank where it meets the others: at a free port of loopback, with a token of their own.
std::map<std::string, std::string> rank_environment(int rank, int count);

// What a rank printed.
std::string log_of(const std::filesystem::path& folder, int rank);

// A port of loopback on which nobody listens.
int free_port();

std::filesystem::path trainer_program(); // fourfold-trainer
std::filesystem::path cuda_trainer_program();
std::filesystem::path parity_worker();
std::filesystem::path cuda_parity_worker();

} // namespace fourfold::testing
