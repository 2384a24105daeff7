// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/metrics/step_trace.h"

#include "core/base/seconds.h"

namespace fourfold::trainer {

StepTrace::StepTrace(int stage, std::function<void()> wait_for_device)
    : stage_(stage)
    , wait_for_device_(std::move(wait_for_device))
{
    wait_for_device_();
    begin_ = std::chrono::steady_clock::now();
}

double StepTrace::now() const
{
    wait_for_device_();
    return seconds_since(begin_);
}

StepTrace::Measurement::Measurement(StepTrace* trace, Span span)
    : trace_(trace)
    , span_(span)
{
    if (trace_) {
        span_.stage = trace_->stage_;
        span_.start_s = trace_->now();
    }
}

StepTrace::Measurement::~Measurement()
{
    if (!trace_)
        return;
    span_.end_s = trace_->now();
    trace_->spans_.push_back(span_);
}

StepTrace::Measurement StepTrace::measure(StepTrace* trace, SpanKind kind, const Action& action)
{
    return {trace, Span{0, kind, action.micro_batch, action.chunk, 0, 0}};
}

StepTrace::Measurement StepTrace::measure(StepTrace* trace, SpanKind kind)
{
    return {trace, Span{0, kind, -1, 0, 0, 0}};
}

} // namespace fourfold::trainer
