// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/timeline.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr double kNotDone = -1;

std::size_t index_of(int i)
{
    return static_cast<std::size_t>(i);
}

// When each (kind, chunk, micro-batch) ended, and which rank waits for it.
class Progress {
public:
    Progress(int chunks, int micro_batches)
        : micro_batches_(micro_batches)
        , end_(index_of(chunks) * index_of(micro_batches) * 2, kNotDone)
        , waiting_(end_.size(), -1)
    {
    }
    [[nodiscard]] std::size_t key(bool forward, int chunk, int micro_batch) const
    {
        return (index_of(chunk) * index_of(micro_batches_) + index_of(micro_batch)) * 2 + (forward ? 0 : 1);
    }
    double& end(std::size_t key) { return end_[key]; }
    int& waiting(std::size_t key) { return waiting_[key]; }

private:
    int micro_batches_;
    std::vector<double> end_;
    std::vector<int> waiting_;
};

// The chunk that an action's input comes from: that before, of a backward that behind, else its own; -1: it has none.
int source_of(const Action& action, int chunks)
{
    if (action.kind == ActionKind::forward)
        return action.chunk - 1;
    const bool is_own = action.kind == ActionKind::weight_gradient || action.chunk == chunks - 1;
    return is_own ? action.chunk : action.chunk + 1;
}

// How many spans a rank will have.
std::size_t spans_of(const std::vector<Action>& list, int rank, const std::vector<int>& home, bool hops_take_time)
{
    const auto receives = [&](const Action& action) {
        const int source = source_of(action, int(home.size()));
        return source >= 0 && home[index_of(source)] != rank;
    };
    return list.size() + (hops_take_time ? std::size_t(std::ranges::count_if(list, receives)) : 0);
}

} // namespace

SpanKind span_kind(ActionKind kind)
{
    switch (kind) {
    case ActionKind::forward:
        return SpanKind::forward;
    case ActionKind::backward:
    case ActionKind::input_gradient:
        return SpanKind::backward;
    case ActionKind::weight_gradient:
        break;
    }
    return SpanKind::weight_gradient;
}

Timeline simulate(const std::vector<std::vector<Action>>& actions, const ScheduleTimes& times, int virtual_stages)
{
    const int pp = int(actions.size());
    const int chunks = pp * virtual_stages;
    int micro_batches = 0;
    std::vector<int> home(index_of(chunks), 0); // the rank of each chunk
    for (int rank = 0; rank < pp; ++rank) {
        for (const Action& action : actions[index_of(rank)]) {
            micro_batches = std::max(micro_batches, action.micro_batch + 1);
            home[index_of(action.chunk)] = rank;
        }
    }
    Timeline timeline;
    timeline.stages = pp;
    Progress progress(chunks, micro_batches);
    // Every rank's spans are written where they are to stay: a long schedule has tens of megabytes of them.
    std::vector<std::size_t> tracks; // where the next span of a rank stands
    std::size_t total = 0;
    for (int rank = 0; rank < pp; ++rank) {
        tracks.push_back(total);
        total += spans_of(actions[index_of(rank)], rank, home, times.send_receive_s > 0);
    }
    constexpr std::size_t kEndOfStep = 4; // spans that a stage may get behind its passes
    timeline.spans.reserve(total + kEndOfStep * index_of(pp));
    timeline.spans.resize(total);
    std::vector<std::size_t> next(index_of(pp), 0);
    std::vector<double> free_at(index_of(pp), 0);
    std::vector<int> ready;
    for (int rank = pp - 1; rank >= 0; --rank)
        ready.push_back(rank);

    while (!ready.empty()) {
        const int rank = ready.back();
        ready.pop_back();
        const auto& list = actions[index_of(rank)];
        std::size_t& track = tracks[index_of(rank)];
        double& now = free_at[index_of(rank)];
        for (std::size_t& i = next[index_of(rank)]; i < list.size(); ++i) {
            const Action& action = list[i];
            const bool forward = action.kind == ActionKind::forward;
            double arrival = 0;
            double hop = 0;
            if (const int source = source_of(action, chunks); source >= 0) {
                const bool of_forward
                    = forward || (action.kind != ActionKind::weight_gradient && source == action.chunk);
                const std::size_t needed = progress.key(of_forward, source, action.micro_batch);
                if (progress.end(needed) == kNotDone) {
                    progress.waiting(needed) = rank;
                    break;
                }
                hop = home[index_of(source)] == rank ? 0 : times.send_receive_s;
                arrival = progress.end(needed);
            }
            const double received = std::max(now, arrival);
            const double start = received + hop;
            if (hop > 0)
                timeline.spans[track++]
                    = {rank, SpanKind::send_receive, action.micro_batch, action.chunk, received, start};
            const double end = start + duration_of(action.kind, times.chunks[index_of(action.chunk)]);
            timeline.spans[track++] = {rank, span_kind(action.kind), action.micro_batch, action.chunk, start, end};
            now = end;
            timeline.length_s = std::max(timeline.length_s, end);
            if (action.kind == ActionKind::weight_gradient)
                continue;
            const std::size_t done = progress.key(forward, action.chunk, action.micro_batch);
            progress.end(done) = end;
            if (const int waiter = progress.waiting(done); waiter >= 0) {
                progress.waiting(done) = -1;
                if (waiter != rank)
                    ready.push_back(waiter);
            }
        }
    }
    return timeline;
}

} // namespace fourfold
