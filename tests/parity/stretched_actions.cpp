// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/stretched_actions.h"

#include "core/base/seconds.h"

#include <algorithm>
#include <ctime>
#include <thread>

namespace fourfold::testing {

namespace {
double core_seconds() // of this thread, which on a CPU computes the backward passes too
{
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}
} // namespace

Expected<at::Tensor> StretchedActions::perform(const Action& action, const trainer::Compute& compute)
{
    using Clock = std::chrono::steady_clock;
    const double length = duration_of(action.kind, times_), used = core_seconds();
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(length));
    FOURFOLD_TRY(at::Tensor result, compute());
    most_computed_ = std::max(most_computed_, (core_seconds() - used) / length);
    std::this_thread::sleep_until(end);
    return result;
}

Expected<void> train_stretched(const ResolvedPlan& plan, const trainer::Mesh& mesh, trainer::TrainerOptions how,
    double part_s, const std::string& file)
{
    StretchedActions stretched(part_s);
    how.perform
        = [&](const Action& action, const trainer::Compute& compute) { return stretched.perform(action, compute); };
    FOURFOLD_TRY(const auto trainer, trainer::Trainer::create(plan, mesh, how));
    const std::vector<ChunkTimes> chunks(mesh.schedule.stage_of_chunk.size(), stretched.times());
    Json result{{"step_s", Json::array()}, {"most_computed", Json::array()},
        {"simulated_s", simulate(mesh.schedule.actions, {chunks, 0}, plan.layout.virtual_stages).length_s}};
    for (int step = 0; step < trainer->total_steps(); ++step) {
        const auto begin = std::chrono::steady_clock::now();
        FOURFOLD_TRY(trainer::StepOutcome outcome, trainer->accumulate_gradients(step));
        trainer->update(step, outcome);
        result["step_s"].push_back(seconds_since(begin));
        result["most_computed"].push_back(stretched.take_most_computed());
    }
    return write_file_atomically(file, result.dump());
}

} // namespace fourfold::testing
