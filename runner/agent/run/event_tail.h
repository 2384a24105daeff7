// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a node's events.jsonl from where a client's copy ends. The file may be damaged, cut or shorter than it was:
// what is left of it is read, and what the client cannot be sent is counted. What the lines say is the client's to
// judge.
#pragma once

#include "runner/agent/system/file_descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace fourfold {

class EventTail {
public:
    // From event `seq`, which the client expects at `offset`.
    EventTail(off_t offset, int64_t seq);

    [[nodiscard]] bool is_open() const { return file_.valid(); }
    void open(FileDescriptor file)
    {
        file_ = std::move(file);
        search_.reset();
        passed_ = 0;
    }
    void close() { file_.close(); }

    struct Part {
        std::string_view lines; // whole ones, until the next call; empty: nothing new
        off_t offset = 0; // of the first of them in the file
        off_t skipped = 0; // bytes before them that are one line too long to be sent
        bool more = false; // follows at once
    };
    // About 256 KiB at most, and nothing for now where only a part of a long way through the file is done: who waits
    // for this is to hear of it meanwhile. A Problem (io) where the file cannot be read.
    Expected<Part> next();

    // Bytes behind the last whole line.
    [[nodiscard]] off_t rest() const;
    // Status of the last `end` event that was read, empty before one.
    [[nodiscard]] const std::string& end_status() const { return end_status_; }

private:
    // The way to the place behind the last event that the client has.
    struct Search {
        off_t place = 0, at = 0;
        std::string partial; // of the line at `at`
    };

    [[nodiscard]] bool fits() const;
    Expected<bool> find_again(); // false: goes on
    Expected<void> pass_line(Part& part); // one that is too long to be sent

    FileDescriptor file_;
    off_t offset_;
    int64_t seq_; // of the next event
    bool checked_ = false; // that `seq` follows at `offset`
    std::optional<Search> search_;
    off_t passed_ = 0; // no newline lies between `offset_` and it
    std::string block_, end_status_;
};

} // namespace fourfold
