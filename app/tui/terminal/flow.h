// SPDX-License-Identifier: GPL-3.0-or-later
// How far a terminal is behind what it was sent. Between it and the program may lie a line whose buffers hold
// megabytes: frames would wait in them for seconds while a key is held. So the terminal is asked now and then whether
// all is well (a device status report, answered behind all that came before it), and no frame is begun while more than
// a window of bytes is without an answer: what changes meanwhile is in the next frame.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace fourfold::tui {

class Flow {
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;
    static constexpr std::size_t kWindow = 12 * 1024; // 0.1 s of 1 Mbit/s, which such a line has in flight anyhow
    static constexpr std::size_t kEvery = 3 * 1024; // a question behind so much
    static constexpr std::chrono::milliseconds kUnheard{500}; // a terminal that answers has answered by then
    static constexpr std::chrono::seconds kStalled{5}; // of a line that stands still: one more frame so often

    void sent(std::size_t bytes) { sent_ += bytes; }
    // Whether a question is wanted now, which has to follow what was sent.
    bool asks(Time now);
    void answered(); // the oldest question
    [[nodiscard]] bool has_questions() const { return !questions_.empty(); }
    // Whether a frame may be begun.
    bool is_ready(Time now);
    // Milliseconds after which it may be begun without an answer.
    [[nodiscard]] int patience(Time now) const;
    void forget(); // what is without an answer: it was waited for, or will not come

private:
    struct Question {
        std::size_t behind = 0; // bytes
        Time asked;
    };
    [[nodiscard]] std::chrono::milliseconds limit() const;

    std::size_t sent_ = 0, shown_ = 0; // bytes; up to the last answer
    std::deque<Question> questions_;
    bool heard_ = false, silent_ = false; // it answered once; it does not answer
};

} // namespace fourfold::tui
