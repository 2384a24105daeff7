// SPDX-License-Identifier: GPL-3.0-or-later
// What this rank last asked of the network: the answer to "where does it hang?", and the traffic of each group.
#pragma once

#include "core/base/json.h"
#include "runner/protocol/progress_page.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace fourfold::trainer {

// Thread-safe: on CUDA, gradient hooks issue collectives from autograd's own threads.
class FlightRecorder {
public:
    // From now on the last operation also stands in the page, which the agent reads.
    void share(std::shared_ptr<ProgressWriter> page);

    struct Entry {
        uint64_t number = 0; // counts this rank's operations from 1
        std::string group; // "tp"
        std::string operation; // "all_reduce"
        std::string peers; // "ranks 0 1"
        int64_t bytes = 0; // payload on this rank
        std::chrono::steady_clock::time_point begin, end;
        bool finished = false;
    };
    // Bytes and seconds that this rank spent waiting, by group and operation.
    struct Total {
        int64_t count = 0, bytes = 0;
        double seconds = 0;
    };

    uint64_t begin(const std::string& group, const std::string& operation, const std::string& peers, int64_t bytes);
    // `waited_s`: the part of its duration during which this rank did nothing else.
    void end(uint64_t number, double waited_s);

    // The oldest unfinished operation, else the last finished one, in words; empty when there was none.
    [[nodiscard]] std::string last() const;
    // The last operations, oldest first, those of them that are unfinished included: for each "number", "group",
    // "operation", "peers", "bytes", "begin_s" and "end_s" before now (null: unfinished).
    [[nodiscard]] Json recent() const;
    // Whether an operation has been under way for `seconds` or longer.
    [[nodiscard]] bool stuck_for(double seconds) const;
    [[nodiscard]] std::map<std::pair<std::string, std::string>, Total> totals() const;

private:
    mutable std::mutex mutex_;
    std::shared_ptr<ProgressWriter> shared_;
    std::map<std::string, uint64_t> of_group_; // operations so far, for `shared_`
    uint64_t next_ = 1;
    std::deque<Entry> recent_;
    std::map<std::pair<std::string, std::string>, Total> totals_;
};

} // namespace fourfold::trainer
