// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/pipeline_ends.h"

#include <algorithm>
#include <limits>

namespace fourfold {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

} // namespace

bool has_pipeline_formula(Schedule schedule, int stages, int virtual_stages)
{
    if (stages < 1 || virtual_stages != 1)
        return false;
    return stages == 1 || traits_of(schedule).ends != EndsFormula::none;
}

void PipelineEnds::add_point(int stage, bool first, double forward, double backward, int stages_since)
{
    Point point{stage, first, forward, backward, 0, 0, forward};
    if (!points_.empty()) {
        const Point& before = points_.back();
        point.forwards = before.forwards;
        point.backwards = before.backwards;
        point.slowest_forward = std::max(before.slowest_forward, forward);
    }
    point.forwards += stages_since * forward;
    point.backwards += stages_since * backward;
    points_.push_back(point);
}

// The ends of every run, a run of one stage once; a run that stage `split` lies in is cut there. Hops set the first and
// the last stage of the pipeline apart.
void PipelineEnds::find_points(std::span<const StageRun> runs, int stages, int split, double hop)
{
    points_.clear();
    int stage = 0;
    for (const StageRun& run : runs) {
        int begin = stage;
        const int end = stage + run.stages; // one past
        bool first = true;
        const auto add = [&](int at, int since) {
            add_point(
                at, first, run.forward_s + (at > 0 ? hop : 0), run.backward_s + (at + 1 < stages ? hop : 0), since);
            first = false;
        };
        if (begin == 0) {
            add(0, 1);
            ++begin;
        }
        const int body = end == stages ? end - 1 : end; // the last stage of all stands alone
        if (begin < body) {
            add(begin, 1);
            if (begin < split && split < body) {
                add(split, split - begin);
                begin = split;
            }
            if (body - begin > 1)
                add(body - 1, body - begin - 1);
        }
        if (end == stages && end > begin)
            add(end - 1, 1);
        stage = end;
    }
}

void PipelineEnds::find_gpipe_ends(int micro_batches)
{
    const Point& last = points_.back();
    const double forwards = last.forwards + (micro_batches - 1) * last.slowest_forward;
    double slowest = 0;
    for (std::size_t i = points_.size(); i-- > 0;) {
        const Point& point = points_[i];
        slowest = std::max(slowest, point.backward);
        if (point.first_of_run)
            ends_.push_back(
                forwards + last.backwards - point.backwards + point.backward + (micro_batches - 1) * slowest);
    }
    std::reverse(ends_.begin(), ends_.end());
}

void PipelineEnds::find_1f1b_ends(int stages, int micro_batches)
{
    const auto waiting = [&](const Point& point) { return stages - 1 - point.stage; };
    const std::size_t count = points_.size();
    std::size_t turns = 0; // the first point where forwards and backwards take turns
    while (waiting(points_[turns]) > micro_batches - 1)
        ++turns;
    last_forward_.resize(count);
    double start = kNever; // best way down to stage j or beyond and back to it, without the backwards before it
    for (std::size_t j = count; j-- > turns;) {
        const Point& at = points_[j];
        start = std::max(start, at.forwards + waiting(at) * at.slowest_forward + at.backwards);
        last_forward_[j] = start - (at.backwards - at.backward)
            + (micro_batches - 2 - waiting(at)) * (at.forward + at.backward) + at.forward;
    }
    for (std::size_t s = 0; s < count; ++s) {
        if (!points_[s].first_of_run)
            continue;
        const double before = points_[s].backwards - points_[s].backward;
        double end = kNever, slowest = 0, reached = kNever;
        std::size_t j = turns;
        for (std::size_t l = s; l < count; ++l) {
            const Point& last = points_[l];
            slowest = std::max(slowest, last.backward);
            // Best way to be at stage l after the last forward of some stage up to it.
            for (; j <= l; ++j)
                reached = std::max(reached, last_forward_[j] - points_[j].forwards);
            end = std::max(end, reached + last.forwards + last.backwards - before + waiting(last) * slowest);
        }
        ends_.push_back(end);
    }
}

std::span<const double> PipelineEnds::operator()(
    Schedule schedule, std::span<const StageRun> runs, int micro_batches, double hop_s)
{
    int stages = 0;
    for (const StageRun& run : runs)
        stages += run.stages;
    ends_.clear();
    if (stages == 1) {
        ends_.push_back(micro_batches * (runs.front().forward_s + runs.front().backward_s));
        return ends_;
    }
    const bool flow_shops = traits_of(schedule).ends == EndsFormula::flow_shops;
    find_points(runs, stages, flow_shops ? 0 : stages - micro_batches, hop_s);
    if (flow_shops)
        find_gpipe_ends(micro_batches);
    else
        find_1f1b_ends(stages, micro_batches);
    return ends_;
}

} // namespace fourfold
