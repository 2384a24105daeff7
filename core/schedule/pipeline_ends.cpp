// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/pipeline_ends.h"

#include <algorithm>
#include <limits>

namespace fourfold {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// The first or last stage of a run, with what lies before it.
struct Point {
    int stage = 0;
    bool first_of_run = false;
    double forward = 0, backward = 0; // its own, with receiving
    double forwards = 0, backwards = 0; // sums over the stages up to it, itself included
    double slowest_forward = 0; // of those
};

using Points = std::vector<Point>;

void add_point(Points& points, int stage, bool first, double forward, double backward, int stages_since)
{
    Point point{stage, first, forward, backward, 0, 0, forward};
    if (!points.empty()) {
        const Point& before = points.back();
        point.forwards = before.forwards;
        point.backwards = before.backwards;
        point.slowest_forward = std::max(before.slowest_forward, forward);
    }
    point.forwards += stages_since * forward;
    point.backwards += stages_since * backward;
    points.push_back(point);
}

// The ends of every run, a run of one stage once. Hops set the first and the last stage of the pipeline apart.
Points points_of(std::span<const StageRun> runs, int stages, double hop)
{
    Points points;
    points.reserve(2 * runs.size() + 4);
    int stage = 0;
    for (const StageRun& run : runs) {
        int begin = stage;
        const int end = stage + run.stages; // one past
        bool first = true;
        const auto add = [&](int at, int since) {
            add_point(points, at, first, run.forward_s + (at > 0 ? hop : 0),
                run.backward_s + (at + 1 < stages ? hop : 0), since);
            first = false;
        };
        if (begin == 0) {
            add(0, 1);
            ++begin;
        }
        const int body = end == stages ? end - 1 : end; // the last stage of all stands alone
        if (begin < body) {
            add(begin, 1);
            if (body - begin > 1)
                add(body - 1, body - begin - 1);
        }
        if (end == stages && end > begin)
            add(end - 1, 1);
        stage = end;
    }
    return points;
}

std::vector<double> gpipe_ends(const Points& points, int micro_batches)
{
    const double forwards = points.back().forwards + (micro_batches - 1) * points.back().slowest_forward;
    std::vector<double> ends;
    double slowest = 0;
    for (std::size_t i = points.size(); i-- > 0;) {
        slowest = std::max(slowest, points[i].backward);
        if (!points[i].first_of_run)
            continue;
        const double sum = points.back().backwards - points[i].backwards + points[i].backward;
        ends.push_back(forwards + sum + (micro_batches - 1) * slowest);
    }
    std::reverse(ends.begin(), ends.end());
    return ends;
}

std::vector<double> one_f_one_b_ends(const Points& points, int stages, int micro_batches)
{
    const auto waiting = [&](const Point& point) { return stages - 1 - point.stage; };
    const std::size_t count = points.size();
    // Until the last forward of stage j ends.
    std::vector<double> last_forward(count);
    for (std::size_t j = 0; j < count; ++j) {
        const double before = points[j].backwards - points[j].backward;
        double start = kNever;
        for (std::size_t l = j; l < count; ++l)
            start = std::max(start,
                points[l].forwards + waiting(points[l]) * points[l].slowest_forward + points[l].backwards - before);
        const double period = points[j].forward + points[j].backward;
        last_forward[j] = start + (micro_batches - 2 - waiting(points[j])) * period + points[j].forward;
    }
    std::vector<double> ends;
    for (std::size_t s = 0; s < count; ++s) {
        if (!points[s].first_of_run)
            continue;
        const double before = points[s].backwards - points[s].backward;
        double end = kNever, slowest = 0, reached = kNever;
        std::size_t j = 0;
        for (std::size_t l = s; l < count; ++l) {
            slowest = std::max(slowest, points[l].backward);
            // Best way to be at stage l after the last forward of some stage up to it.
            for (; j <= l; ++j)
                reached = std::max(reached, last_forward[j] - points[j].forwards);
            end = std::max(
                end, reached + points[l].forwards + points[l].backwards - before + waiting(points[l]) * slowest);
        }
        ends.push_back(end);
    }
    return ends;
}

} // namespace

std::optional<std::vector<double>> pipeline_ends(
    Schedule schedule, std::span<const StageRun> runs, int micro_batches, double hop_s)
{
    int stages = 0;
    for (const StageRun& run : runs)
        stages += run.stages;
    if (stages < 1 || micro_batches < 1)
        return std::nullopt;
    if (schedule == Schedule::gpipe)
        return gpipe_ends(points_of(runs, stages, hop_s), micro_batches);
    if (schedule == Schedule::one_f_one_b && micro_batches >= stages)
        return one_f_one_b_ends(points_of(runs, stages, hop_s), stages, micro_batches);
    return std::nullopt;
}

} // namespace fourfold
