// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank did when in one step, in the form of the planner's timeline.
#pragma once

#include "core/schedule/timeline.h"

#include <chrono>
#include <functional>
#include <vector>

namespace fourfold::trainer {

class StepTrace {
public:
    // `wait_for_device` is called at the beginning and the end of every span, so that a span on a GPU is its work and
    // not the time to queue it.
    StepTrace(int stage, std::function<void()> wait_for_device);

    // From here to the end of the object's life. Nothing where `trace` is null.
    class Measurement {
    public:
        Measurement(StepTrace* trace, Span span);
        ~Measurement();
        Measurement(const Measurement&) = delete;
        Measurement& operator=(const Measurement&) = delete;

    private:
        StepTrace* trace_;
        Span span_;
    };
    static Measurement measure(StepTrace* trace, SpanKind kind, const Action& action);
    static Measurement measure(StepTrace* trace, SpanKind kind); // belongs to the step

    // Spans in seconds since construction, in the order of their ends.
    [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
    [[nodiscard]] double now() const; // seconds since construction

private:
    int stage_;
    std::function<void()> wait_for_device_;
    std::chrono::steady_clock::time_point begin_;
    std::vector<Span> spans_;
};

} // namespace fourfold::trainer
