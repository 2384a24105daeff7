// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/measure/measure.h"

#include "core/base/seconds.h"
#include "runner/trainer/comm/c10d_store.h"
#include "runner/trainer/comm/c10d_transport.h"
#include "runner/trainer/device/device.h"
#include "runner/trainer/failure.h"
#include "runner/trainer/measure/measuring_plans.h"
#include "runner/trainer/measure/single_operations.h"
#include "runner/trainer/metrics/host_facts.h"
#include "runner/trainer/trainer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace fourfold::trainer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostSeconds = 50; // no further plan is begun after so long
constexpr double kStepSeconds = 0.5; // that the steps of a plan fill after the first
constexpr int kLeastSteps = 3, kMostSteps = 15;
constexpr double kUnsteady = 0.1; // of the pace between the beginning and the end of a measurement: it is repeated

// The same product again and again: whether the machine keeps its speed.
class Pace {
public:
    Pace(const Stopwatch& watch, bool first_rank, bool cuda)
        : watch_(watch)
        , first_rank_(first_rank)
        , matrix_(at::ones({256, 256}, at::TensorOptions().dtype(at::kFloat).device(cuda ? at::kCUDA : at::kCPU)))
    {
    }
    // Now, against the one before: 0.1 is a tenth slower or faster.
    double change()
    {
        const at::NoGradGuard none;
        const double now = watch_.time(first_rank_, 0.02, [this] { (void)at::mm(matrix_, matrix_); });
        const double before = seconds_.empty() ? now : seconds_.back();
        seconds_.push_back(now);
        return std::max(now, before) / std::min(now, before) - 1;
    }
    [[nodiscard]] Json told() const
    {
        std::vector<double> sorted = seconds_;
        std::sort(sorted.begin(), sorted.end());
        const double median = sorted[sorted.size() / 2];
        const auto of = [&](double share) { return sorted[std::size_t(share * double(sorted.size() - 1))]; };
        return {{"what", "pace"}, {"first", seconds_.front()}, {"fastest", sorted.front()}, {"slowest", sorted.back()},
            {"spread", (of(0.9) - of(0.1)) / median}, {"samples", sorted.size()}};
    }

private:
    const Stopwatch& watch_;
    bool first_rank_;
    at::Tensor matrix_;
    std::vector<double> seconds_;
};

// The median of the steps after the first two, on the ranks of the plan.
Expected<Json> steps_of(const ResolvedPlan& plan, int index, const Measuring& measuring, const Device& device,
    const Job& job, c10d::Store* store)
{
    const bool takes_part = measuring.rank < plan.gpus;
    const int here = std::min(plan.gpus, std::max(1, plan.cluster.gpus_per_node));
    const int threads = std::max(1, usable_cores() / here);
    at::set_num_threads(threads);
    std::unique_ptr<Mesh> mesh;
    std::unique_ptr<Trainer> trainer;
    std::optional<Problem> problem;
    if (takes_part) {
        FOURFOLD_TRY(PlanSchedule schedule, listed_schedule(plan));
        mesh = std::make_unique<Mesh>(make_mesh(plan, measuring.rank, std::move(schedule),
            [&](const std::string& name, const std::vector<int>& ranks, int place) {
                return make_c10d_transport(store,
                    {device.backend, "step" + std::to_string(index) + "/" + name, place, int(ranks.size()), job.address,
                        job.timeout_s});
            }));
        FOURFOLD_TRY(trainer, Trainer::create(plan, *mesh, {.cuda = device.cuda}));
    }
    std::vector<double> seconds;
    const auto step = [&](int number) -> Expected<void> {
        const auto begin = Clock::now();
        FOURFOLD_TRY(StepOutcome outcome, trainer->accumulate_gradients(number));
        trainer->update(number, outcome);
        synchronize_gpu();
        seconds.push_back(seconds_since(begin));
        return {};
    };
    measuring.watch.meet();
    constexpr int kWarmUp = 2;
    for (int i = 0; takes_part && i < kWarmUp; ++i)
        FOURFOLD_CHECK(step(i));
    const double once = measuring.watch.most(seconds.empty() ? 0 : seconds.back());
    const int steps = std::clamp(int(kStepSeconds / std::max(once, 1e-6)), kLeastSteps, kMostSteps);
    seconds.clear();
    for (int i = 0; takes_part && i < steps; ++i)
        FOURFOLD_CHECK(step(kWarmUp + i));
    if (trainer)
        trainer->settle();
    std::sort(seconds.begin(), seconds.end());
    const double median = takes_part ? seconds[seconds.size() / 2] : 0;
    const double slowest = measuring.watch.most(median);
    trainer.reset();
    measuring.watch.meet(); // before wires that others still use are closed
    mesh.reset();
    at::set_num_threads(measuring.threads);
    return Json{{"what", "step"}, {"plan", to_json(plan, PresetStyle::inlined)}, {"threads", threads}, {"steps", steps},
        {"step_time_s", slowest}};
}

} // namespace

Expected<void> measure(
    const Job& job, const ResolvedPlan& plan, const Device& device, Rendezvous& rendezvous, int threads)
{
    const auto store = make_c10d_store(rendezvous.line(), job.timeout_s);
    const auto make_transport = [&](const std::string& name, const std::vector<int>& ranks, int place) {
        return make_c10d_transport(
            store.get(), {device.backend, name, place, int(ranks.size()), job.address, job.timeout_s});
    };
    const int ranks = job.world_size;
    std::vector<int> everybody(std::size_t(ranks), 0);
    std::iota(everybody.begin(), everybody.end(), 0);
    Communicator world;
    if (ranks > 1)
        world = Communicator("world", everybody, job.rank, make_transport("measure", everybody, job.rank),
            std::make_shared<FlightRecorder>());
    const Stopwatch watch(world, device.cuda);
    Expected<void> written;
    const Measuring measuring{plan, watch, job.rank, ranks, device.cuda, threads, std::max(threads, usable_cores()),
        [&](const Json& figures) {
            if (job.rank == 0 && written)
                written = identity().events->write("measured", figures);
        }};
    const auto begin = Clock::now();
    Pace pace(watch, job.rank == 0, device.cuda);
    (void)pace.change();
    // What ended in the middle of a change of clocks says nothing of either.
    for (const auto& part : {std::function<void()>([&] { measure_products(measuring); }),
             std::function<void()>([&] { measure_passes(measuring); }),
             std::function<void()>([&] { measure_attention(measuring); }),
             std::function<void()>([&] { measure_collectives(measuring, make_transport); })}) {
        part();
        (void)pace.change();
    }
    int index = 0;
    for (const ResolvedPlan& of : measuring_plans(plan)) {
        if (watch.most(seconds_since(begin)) > kMostSeconds)
            break;
        FOURFOLD_TRY(Json figures, steps_of(of, index++, measuring, device, job, store.get()));
        if (pace.change() > kUnsteady) {
            FOURFOLD_TRY(Json again, steps_of(of, index++, measuring, device, job, store.get()));
            (void)pace.change();
            figures["repeated_s"] = again["step_time_s"];
        }
        measuring.tell(std::move(figures));
    }
    Json last = pace.told();
    last["seconds"] = watch.most(seconds_since(begin));
    measuring.tell(std::move(last));
    return written;
}

} // namespace fourfold::trainer
