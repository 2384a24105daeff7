// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the lines that the ranks of a node append to rank<r>.jsonl over into the node's event log, in the order of
// their arrival, each exactly once. What a rank writes is not trusted: a line that is not an event becomes a warning.
#pragma once

#include "runner/agent/run/event_log.h"
#include "runner/protocol/progress_page.h"
#include "runner/protocol/run_spec.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// What a rank said about its own failure.
struct RankError {
    std::string kind; // "oom", "fail", "hang", "bad_input"
    std::string message;
    FailureOrigin origin = FailureOrigin::own;
    int64_t order = 0; // earlier failures have lower numbers
};

class EventMerge {
public:
    EventMerge(const RunSpec& spec, std::filesystem::path folder, EventLog& log);

    // Reads what is new, at most about `budget` bytes; true when something was taken over.
    bool poll(std::size_t budget = 4u << 20);

    // Steps, and events of any kind, that came so far.
    [[nodiscard]] int64_t steps() const { return steps_; }
    [[nodiscard]] int64_t events() const { return events_; }
    // Seconds from the request for a checkpoint until it was on disk, the longest so far; 0 before the first.
    [[nodiscard]] double longest_save() const { return longest_save_; }
    // The first `error` event of a rank, if it wrote one.
    [[nodiscard]] std::optional<RankError> error_of(int rank) const;

private:
    struct Feed {
        RankPlace place;
        std::filesystem::path file;
        FileDescriptor fd;
        off_t offset = 0;
        std::string partial; // a line without its newline yet
        bool oversized = false; // within a line that is too long, until its newline
        int64_t skip = 0; // lines that the log held already
        int warnings = 0;
        std::optional<RankError> error;
    };

    std::size_t read_feed(Feed& feed, std::size_t budget);
    void take_line(Feed& feed, std::string_view line);
    void warn(Feed& feed, const std::string& message);

    const RunSpec& spec_;
    std::filesystem::path folder_;
    EventLog& log_;
    std::vector<Feed> feeds_;
    std::string block_; // what is read at once
    int64_t errors_ = 0, steps_ = 0, events_ = 0;
    double longest_save_ = 0;
};

// The last lines of a rank's log, at most `count`, each at most 500 bytes.
Json last_log_lines(const std::filesystem::path& log, int count = 20);

} // namespace fourfold
