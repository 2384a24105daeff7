// SPDX-License-Identifier: GPL-3.0-or-later
// What of the bytes that a node sends as its events are events. On an honest node with a sound disk: all of them, and
// `seq` counts from 0 without a gap. Where a file was damaged or cut, what can be read is kept, and an event of this
// program stands in the place of each one that is missing, so that what is stored says what it lacks:
//   {"seq": 17, "time": ..., "event": "warning", "kind": "missing", "client": true, "message": ...}   the first of a
//   gap
//   {"seq": 18, "event": "missing", "client": true}                                                   each further one
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

class EventSieve {
public:
    // `next_seq`: of the first event that is not stored yet; `host` as the user calls it.
    EventSieve(std::string host, int64_t next_seq)
        : host_(std::move(host))
        , next_seq_(next_seq)
    {
    }

    struct Taken {
        std::vector<std::string_view> lines; // without newlines; into the given bytes or into `made`
        std::vector<Json> events; // what they say
        std::deque<std::string> made; // events of this program
        std::vector<std::string> notes; // what was left out although no event is missing
    };
    // Whole lines that begin at byte `offset` of the node's file.
    Taken take(int64_t offset, std::string_view bytes);
    // Bytes that the node could not send.
    void skip(int64_t offset, int64_t bytes);
    // The node says that its run has ended: an `end` where its own did not arrive.
    Taken end(const std::string& status, const std::string& why);

    [[nodiscard]] int64_t next_seq() const { return next_seq_; }
    [[nodiscard]] bool ended() const { return ended_; } // the last event was `end`
    void set_ended(bool ended) { ended_ = ended; } // as of what is stored

private:
    void add(Taken& taken, std::string_view line, Json event);
    void stand_in(Taken& taken, Json event);
    void fill(Taken& taken, int64_t until);
    void leave_out(int64_t offset, int64_t bytes);
    [[nodiscard]] std::string damage() const;

    std::string host_;
    int64_t next_seq_;
    int64_t read_ = 0; // end of the bytes that were taken
    int64_t damaged_at_ = 0, damaged_bytes_ = 0, damaged_lines_ = 0; // since the last event
    int64_t filled_ = 0; // events that were missing, in all
    bool ended_ = false;
};

} // namespace fourfold
