// SPDX-License-Identifier: GPL-3.0-or-later
// events.jsonl of one node: append-only, `seq` from 0 without a gap, whole lines only. Survives a full disk: lines wait
// in memory until the reserve file is given up.
#pragma once

#include "core/base/json.h"
#include "core/history/event_types.h"
#include "core/history/run_state.h"
#include "runner/agent/system/file_descriptor.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace fourfold {

class EventLog {
public:
    // Opens or creates the file; a torn last line (the writer was killed) is cut off. Numbers go on after the last
    // event that can be read, and after one for each damaged line that follows it.
    static Expected<EventLog> open(const std::filesystem::path& file);

    // Appends {"seq": n, ...} made of one JSON object's text as a rank wrote it (`object` begins with '{'). It reaches
    // the file with the next flush() or event of the agent: lines that come together are written together. What an
    // agent that is killed had not written is still in the rank's own file.
    void append_object(std::string_view object);
    // Appends an event of the agent itself, at once, with time and rank (-1 = none).
    template <typename Event>
    void append(int rank, const Event& event)
    {
        append(Event::kKind, rank, event_json(event));
    }

    // True from the first failed write on (disk full, quota, I/O error); `failure` says why.
    [[nodiscard]] bool failed() const { return !failure_.empty(); }
    [[nodiscard]] const std::string& failure() const { return failure_; }
    // Writes what waits; true when nothing waits any more.
    bool flush();
    void sync();
    // Writes all that the file holds once more, in the place of what is there now; its own name may be gone.
    [[nodiscard]] Expected<void> copy_to(const std::filesystem::path& file) const;

    [[nodiscard]] int64_t next_seq() const { return next_seq_; }
    // How many lines of each rank the file held when it was opened (events of the agent itself not counted).
    [[nodiscard]] const std::map<int, int64_t>& merged_lines() const { return merged_lines_; }
    // The `end` event that the file held when it was opened; null without one.
    [[nodiscard]] const Json& end() const { return end_; }
    [[nodiscard]] int descriptor() const { return fd_.get(); }

private:
    void append(EventKind event, int rank, const Json& more);
    void remember(std::string_view line); // of the file that was opened
    void take_line(std::string_view line);

    FileDescriptor fd_;
    int64_t next_seq_ = 0;
    std::map<int, int64_t> merged_lines_;
    Json end_;
    std::string waiting_; // whole lines, the first perhaps without what is already in the file
    std::string failure_;
};

// Creates a file of real blocks that can be given up when the disk is full.
Expected<void> make_reserve(const std::filesystem::path& file, std::size_t bytes);

} // namespace fourfold
