// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/rolling_schedule.h"

#include "core/schedule/rank_actions.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr std::size_t kKinds = 4; // of actions

// When a result was there: with hops, and were hops to take no time.
struct Instants {
    double with = 0, without = 0;
};

// Results on their way from one rank to another, in the order in which they are made and taken: that of micro-batches.
class Link {
public:
    [[nodiscard]] bool empty() const { return made_ == taken_; }
    [[nodiscard]] bool full() const { return made_ - taken_ == ring_.size(); }
    void put(Instants instants) { ring_[made_++ & (ring_.size() - 1)] = instants; }
    Instants take() { return ring_[taken_++ & (ring_.size() - 1)]; }
    // `room`: a power of two.
    void grow(std::size_t room)
    {
        std::vector<Instants> larger(room);
        for (std::size_t i = taken_; i != made_; ++i)
            larger[i & (room - 1)] = ring_[i & (ring_.size() - 1)];
        ring_ = std::move(larger);
    }

private:
    std::vector<Instants> ring_;
    std::size_t made_ = 0, taken_ = 0;
};

class RollingSchedule {
public:
    RollingSchedule(const ScheduleShape& shape, const ScheduleTimes& times)
        : hop_(times.send_receive_s)
        , home_(chunk_placement(shape.schedule, shape.pp, shape.virtual_stages))
        , into_forward_(home_.size())
        , into_backward_(home_.size())
    {
        for (const ChunkTimes& chunk : times.chunks) {
            for (std::size_t kind = 0; kind < kKinds; ++kind)
                durations_.push_back(duration_of(static_cast<ActionKind>(kind), chunk));
        }
        ranks_.reserve(static_cast<std::size_t>(shape.pp));
        for (int rank = 0; rank < shape.pp; ++rank)
            ranks_.emplace_back(shape, rank);
    }

    // Up and down the pipeline until all is done. A rank waits for room in the links after it, so that none runs far
    // ahead; where all wait, links get more of it.
    void run()
    {
        constexpr std::size_t kRoom = 32;
        std::size_t room = kRoom;
        grow(room);
        for (std::size_t left = ranks_.size(); left > 0;) {
            bool moved = false;
            for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
                moved = advance(ranks_[rank], left) || moved;
            for (std::size_t rank = ranks_.size(); rank-- > 0;)
                moved = advance(ranks_[rank], left) || moved;
            if (!moved)
                grow(room *= 2);
        }
    }
    [[nodiscard]] ScheduleOrder::Ends ends(double* length_without_hops) const
    {
        ScheduleOrder::Ends ends;
        double without = 0;
        for (const Rank& rank : ranks_) {
            ends.stage_s.push_back(rank.now.with);
            ends.length_s = std::max(ends.length_s, rank.now.with);
            without = std::max(without, rank.now.without);
        }
        if (length_without_hops != nullptr)
            *length_without_hops = without;
        return ends;
    }

private:
    struct Rank {
        Rank(const ScheduleShape& shape, int rank)
            : actions(shape, rank)
        {
            more = actions.next(action);
        }
        RankActions actions;
        Action action; // the next one, where there is `more`
        bool more = false;
        Instants now;
    };
    static std::size_t at(int chunk) { return static_cast<std::size_t>(chunk); }

    // The link into a chunk's pass from its neighbour; null where that is on the same rank, which has made the result
    // before (the foot of a V, a chunk's own forward or input gradient).
    Link* input(const Action& action)
    {
        const int chunk = action.chunk, last = int(home_.size()) - 1;
        switch (action.kind) {
        case ActionKind::forward:
            return chunk > 0 && home_[at(chunk - 1)] != home_[at(chunk)] ? &into_forward_[at(chunk)] : nullptr;
        case ActionKind::backward:
        case ActionKind::input_gradient:
            return chunk < last && home_[at(chunk + 1)] != home_[at(chunk)] ? &into_backward_[at(chunk)] : nullptr;
        case ActionKind::weight_gradient:
            break;
        }
        return nullptr;
    }
    Link* output(const Action& action)
    {
        const int chunk = action.chunk, last = int(home_.size()) - 1;
        switch (action.kind) {
        case ActionKind::forward:
            return chunk < last && home_[at(chunk + 1)] != home_[at(chunk)] ? &into_forward_[at(chunk + 1)] : nullptr;
        case ActionKind::backward:
        case ActionKind::input_gradient:
            return chunk > 0 && home_[at(chunk - 1)] != home_[at(chunk)] ? &into_backward_[at(chunk - 1)] : nullptr;
        case ActionKind::weight_gradient:
            break;
        }
        return nullptr;
    }
    bool advance(Rank& rank, std::size_t& left)
    {
        bool moved = false;
        while (rank.more) {
            Link* const from = input(rank.action);
            Link* const to = output(rank.action);
            if ((from != nullptr && from->empty()) || (to != nullptr && to->full()))
                break;
            if (from != nullptr) {
                const Instants there = from->take();
                rank.now.with = std::max(rank.now.with, there.with) + hop_;
                rank.now.without = std::max(rank.now.without, there.without);
            }
            const double duration
                = durations_[at(rank.action.chunk) * kKinds + static_cast<std::size_t>(rank.action.kind)];
            rank.now.with += duration;
            rank.now.without += duration;
            if (to != nullptr)
                to->put(rank.now);
            moved = true;
            rank.more = rank.actions.next(rank.action);
            left -= rank.more ? 0 : 1;
        }
        return moved;
    }
    void grow(std::size_t room)
    {
        for (std::size_t chunk = 0; chunk < home_.size(); ++chunk) {
            into_forward_[chunk].grow(room);
            into_backward_[chunk].grow(room);
        }
    }

    double hop_;
    std::vector<int> home_; // the rank of each chunk
    std::vector<Link> into_forward_, into_backward_; // of chunks, from the one before and the one after
    std::vector<double> durations_; // by chunk and kind
    std::vector<Rank> ranks_;
};

} // namespace

ScheduleOrder::Ends rolling_ends(const ScheduleShape& shape, const ScheduleTimes& times, double* length_without_hops)
{
    RollingSchedule schedule(shape, times);
    schedule.run();
    return schedule.ends(length_without_hops);
}

} // namespace fourfold
