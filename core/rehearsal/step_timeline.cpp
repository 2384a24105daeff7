// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rehearsal/step_timeline.h"

#include <algorithm>
#include <limits>

namespace fourfold {

namespace {

SpanKind kind_of_wait(const RankProgram& program, int operation)
{
    const WireOperation& asked = program.operations[std::size_t(operation)];
    const std::string& wire = program.wires[std::size_t(asked.wire)].name;
    if (is_own_copy(program, asked))
        return SpanKind::optimizer;
    if (!asked.messages.empty())
        return SpanKind::send_receive;
    if (wire.starts_with("world"))
        return SpanKind::other;
    return asked.kind == "all_gather" ? SpanKind::parameter_gather : SpanKind::gradient_reduce;
}

// The spans of one rank's last step, in order.
class Track {
public:
    Track(const RankProgram& program, const Matched::Rank& rank, const LastStep& step, double zero_s)
        : program_(program)
        , rank_(rank)
        , step_(step)
        , zero_s_(zero_s)
    {
    }

    std::vector<Span> spans()
    {
        double now_s = seconds_at(rank_, step_.begin);
        std::size_t at = step_.begin.steps;
        for (const RankPass& pass : program_.passes) {
            if (pass.begin.steps < step_.begin.steps)
                continue;
            for (; at < pass.begin.steps; ++at)
                now_s = outside(at, now_s, SpanKind::other);
            const double begin_s = seconds_at(rank_, pass.begin), end_s = seconds_at(rank_, pass.end);
            add(SpanKind::other, now_s, begin_s);
            spans_.push_back({step_.stage, span_kind(pass.action.kind), pass.action.micro_batch, pass.action.chunk,
                begin_s - zero_s_, end_s - zero_s_});
            now_s = end_s;
            at = std::max(at, pass.end.steps);
        }
        for (; at < program_.steps.size(); ++at)
            now_s = outside(at, now_s, SpanKind::optimizer);
        add(SpanKind::optimizer, now_s, rank_.end_s);
        return std::move(spans_);
    }

private:
    // The rank works, then asks or waits.
    double outside(std::size_t at, double now_s, SpanKind work)
    {
        const double done_s = rank_.at_s[at];
        const double from_s = at == 0 ? 0 : rank_.at_s[at - 1];
        const double worked_s = std::clamp(
            from_s + (at < program_.work_s.size() ? program_.work_s[at] : 0), now_s, std::max(now_s, done_s));
        add(work, now_s, worked_s);
        if (const int step = program_.steps[at]; step < 0)
            add(kind_of_wait(program_, ~step), worked_s, done_s);
        return std::max(now_s, done_s);
    }

    void add(SpanKind kind, double begin_s, double end_s)
    {
        if (end_s <= begin_s)
            return;
        const double begin = begin_s - zero_s_, end = end_s - zero_s_;
        if (!spans_.empty() && spans_.back().micro_batch < 0 && spans_.back().kind == kind
            && spans_.back().end_s == begin)
            spans_.back().end_s = end;
        else
            spans_.push_back({step_.stage, kind, -1, 0, begin, end});
    }

    const RankProgram& program_;
    const Matched::Rank& rank_;
    const LastStep& step_;
    double zero_s_;
    std::vector<Span> spans_;
};

} // namespace

Timeline step_timeline(
    const std::vector<RankProgram>& programs, const Matched& matched, const std::vector<LastStep>& steps)
{
    Timeline timeline;
    double first_s = std::numeric_limits<double>::max(), last_s = 0, end_s = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const double begin_s = seconds_at(matched.ranks[i], steps[i].begin);
        first_s = std::min(first_s, begin_s);
        last_s = std::max(last_s, begin_s);
        end_s = std::max(end_s, matched.ranks[i].end_s);
        timeline.stages = std::max(timeline.stages, steps[i].stage + 1);
    }
    timeline.length_s = end_s - last_s;
    for (int stage = 0; stage < timeline.stages; ++stage)
        for (std::size_t i = 0; i < programs.size(); ++i)
            if (steps[i].stage == stage)
                std::ranges::move(Track(programs[i], matched.ranks[i], steps[i], first_s).spans(),
                    std::back_inserter(timeline.spans));
    return timeline;
}

} // namespace fourfold
