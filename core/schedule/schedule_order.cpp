// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/schedule_order.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::size_t kActionKinds = 4; // of actions

std::size_t position(int i)
{
    return static_cast<std::size_t>(i);
}

struct Input {
    bool needed = false;
    std::size_t result = 0;
    int chunk = 0; // where it comes from
};

// Results of forward (even) and backward (odd) passes, by chunk and micro-batch.
struct Results {
    int chunks, micro_batches;
    [[nodiscard]] std::size_t key(bool forward, int chunk, int micro_batch) const
    {
        return (position(chunk) * position(micro_batches) + position(micro_batch)) * 2 + (forward ? 0 : 1);
    }
    [[nodiscard]] Input input_of(const Action& action) const
    {
        const int chunk = action.chunk;
        switch (action.kind) {
        case ActionKind::forward:
            if (chunk == 0)
                return {};
            return {true, key(true, chunk - 1, action.micro_batch), chunk - 1};
        case ActionKind::weight_gradient:
            return {true, key(false, chunk, action.micro_batch), chunk};
        default:
            if (chunk == chunks - 1)
                return {true, key(true, chunk, action.micro_batch), chunk};
            return {true, key(false, chunk + 1, action.micro_batch), chunk + 1};
        }
    }
};

} // namespace

ScheduleOrder::ScheduleOrder(const std::vector<std::vector<Action>>& actions, int virtual_stages)
    : ranks_(int(actions.size()))
{
    Results results{ranks_ * virtual_stages, 0};
    std::vector<int> home(position(results.chunks), 0);
    std::size_t total = 0;
    for (std::size_t rank = 0; rank < actions.size(); ++rank) {
        total += actions[rank].size();
        for (const Action& action : actions[rank]) {
            results.micro_batches = std::max(results.micro_batches, action.micro_batch + 1);
            home[position(action.chunk)] = int(rank);
        }
    }
    std::vector<std::int32_t> made_by(results.key(false, results.chunks - 1, results.micro_batches - 1) + 1, kNone);
    std::vector<std::size_t> next(actions.size(), 0);
    steps_.reserve(total);
    for (bool progress = true; progress;) {
        progress = false;
        for (std::size_t rank = 0; rank < actions.size(); ++rank) {
            for (std::size_t& i = next[rank]; i < actions[rank].size(); ++i) {
                const Action& action = actions[rank][i];
                const Input input = results.input_of(action);
                if (input.needed && made_by[input.result] == kNone)
                    break;
                const auto duration = position(action.chunk) * kActionKinds + static_cast<std::size_t>(action.kind);
                steps_.push_back(
                    {std::int32_t(rank), std::int32_t(duration), input.needed ? made_by[input.result] : kNone,
                        input.needed && home[position(input.chunk)] != int(rank)});
                progress = true;
                if (action.kind == ActionKind::weight_gradient)
                    continue;
                made_by[results.key(action.kind == ActionKind::forward, action.chunk, action.micro_batch)]
                    = std::int32_t(steps_.size() - 1);
            }
        }
    }
}

ScheduleOrder::Ends ScheduleOrder::time(const ScheduleTimes& times) const
{
    Workspace workspace;
    Ends ends;
    time(times, workspace, ends);
    return ends;
}

// kBoth: the times without hops too, into `done_without` and `stage_without`.
template <bool kBoth>
void ScheduleOrder::run(double hop, Workspace& workspace, std::vector<double>& stages) const
{
    const auto begin = [&](const Step& step, double& now, const std::vector<double>& done, double transfer) {
        if (step.input != kNone)
            now = std::max(now, done[position(step.input)]) + transfer;
    };
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Step& step = steps_[i];
        const double duration = workspace.durations[position(step.duration)];
        double& now = stages[position(step.rank)];
        begin(step, now, workspace.done, step.hop ? hop : 0);
        now += duration;
        workspace.done[i] = now;
        if constexpr (kBoth) {
            double& without = workspace.stage_without[position(step.rank)];
            begin(step, without, workspace.done_without, 0);
            without += duration;
            workspace.done_without[i] = without;
        }
    }
}

void ScheduleOrder::time(
    const ScheduleTimes& times, Workspace& workspace, Ends& ends, double* length_without_hops) const
{
    workspace.durations.resize(times.chunks.size() * kActionKinds);
    for (std::size_t chunk = 0; chunk < times.chunks.size(); ++chunk) {
        for (std::size_t kind = 0; kind < kActionKinds; ++kind)
            workspace.durations[chunk * kActionKinds + kind]
                = duration_of(static_cast<ActionKind>(kind), times.chunks[chunk]);
    }
    const auto make_room = [&](std::vector<double>& done) { done.resize(std::max(done.size(), steps_.size())); };
    const auto longest = [](const std::vector<double>& stages) {
        return stages.empty() ? 0 : *std::max_element(stages.begin(), stages.end());
    };
    ends.stage_s.assign(position(ranks_), 0);
    make_room(workspace.done);
    if (length_without_hops != nullptr) {
        workspace.stage_without.assign(position(ranks_), 0);
        make_room(workspace.done_without);
        run<true>(times.send_receive_s, workspace, ends.stage_s);
        *length_without_hops = longest(workspace.stage_without);
    } else {
        run<false>(times.send_receive_s, workspace, ends.stage_s);
    }
    ends.length_s = longest(ends.stage_s);
}

} // namespace fourfold
