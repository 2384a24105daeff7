// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/train.h"

#include "core/base/seconds.h"
#include "core/base/thrown.h"
#include "core/schedule/chrome_trace.h"
#include "runner/trainer/checkpoint/publish.h"
#include "runner/trainer/checkpoint/saver.h"
#include "runner/trainer/comm/c10d_store.h"
#include "runner/trainer/comm/c10d_transport.h"
#include "runner/trainer/device/device.h"
#include "runner/trainer/device/tensor_memory.h"
#include "runner/trainer/failure.h"
#include "runner/trainer/measure/measure.h"
#include "runner/trainer/metrics/host_facts.h"
#include "runner/trainer/metrics/loss_rule.h"
#include "runner/trainer/metrics/throughput.h"
#include "runner/trainer/pipeline_parallel/collect_spans.h"
#include "runner/trainer/pipeline_parallel/message_plan.h"
#include "runner/trainer/start_up.h"
#include "runner/trainer/trainer.h"

#include <ATen/Context.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kTracedStep = 9; // counted from 0: warmed up, and soon enough for short runs

std::atomic<bool> loop_runs{false};
std::atomic<bool> stop_wanted{false};

// The same on all ranks.
RankFigures of_all_ranks(const Mesh& mesh, const Device& device, double step_time_s)
{
    RankFigures figures;
    const GpuPeaks peaks = gpu_peaks();
    std::vector<std::pair<double, OfRanks*>> own{{step_time_s, &figures.step_time_s}};
    if (device.cuda)
        own.insert(
            own.end(), {{peaks.allocated_gib, &figures.allocated_gib}, {peaks.reserved_gib, &figures.reserved_gib}});
    else
        own.emplace_back(resident_peak_gib(), &figures.resident_gib);
    const int64_t ranks = mesh[GroupKind::world].size();
    at::Tensor all = at::zeros({int64_t(own.size()), ranks}, at::TensorOptions().dtype(at::kDouble));
    for (std::size_t row = 0; row < own.size(); ++row)
        all[int64_t(row)][mesh[GroupKind::world].rank()] = own[row].first;
    if (device.cuda)
        all = all.cuda();
    mesh[GroupKind::world].all_reduce(all, Reduce::sum);
    all = all.cpu();
    const auto* values = all.const_data_ptr<double>();
    for (const auto& [value, of_ranks] : own) {
        of_ranks->assign(values, values + ranks);
        values += ranks;
    }
    return figures;
}

// Steps since the last `step` event.
struct Interval {
    Clock::time_point begin = Clock::now();
    int steps = 0;
    double data_time_s = 0;
};

// Steps, evaluations and what is told about them.
class Loop {
public:
    // `saver`: null where the plan saves nothing.
    Loop(const ResolvedPlan& plan, const Mesh& mesh, const Device& device, Trainer& trainer, EventWriter& events,
        CheckpointSaver* saver)
        : plan_(plan)
        , mesh_(mesh)
        , device_(device)
        , trainer_(trainer)
        , events_(events)
        , saver_(saver)
        , rule_(plan.run.watch, plan.training.precision == Precision::fp16, plan.training.optimizer_in_backward)
    {
    }

    // All steps, and the last checkpoint on the disk; true when it was stopped before the last step.
    Expected<bool> run()
    {
        FOURFOLD_TRY(const bool stopped, run_steps());
        if (saver_)
            FOURFOLD_CHECK(saver_->finish());
        const int steps = trainer_.total_steps() - trainer_.first_step();
        if (!stopped && steps > 0 && unusable_ == steps)
            return Problem{ProblemCode::failed,
                "nothing was trained: the loss or the gradient norm of every step was not finite",
                "begin with weights that are numbers, a lower run.lr or another precision", ""};
        return stopped;
    }

private:
    Expected<bool> run_steps()
    {
        const int first = trainer_.first_step(), total = trainer_.total_steps(), every = plan_.run.eval.every;
        for (int step = first; step < total; ++step) {
            std::optional<StepTrace> trace;
            if (step == std::min(first + kTracedStep, total - 1))
                begin_trace(trace);
            StepTrace* const spans = trace ? &*trace : nullptr;
            FOURFOLD_TRY(StepOutcome outcome, trainer_.accumulate_gradients(step, stop_wanted, spans));
            FOURFOLD_TRY(const bool usable, look_at(step, outcome));
            if (usable)
                trainer_.update(step, outcome, spans);
            release_unused_tensor_memory();
            skipped_ += outcome.applied ? 0 : 1;
            ++interval_.steps;
            interval_.data_time_s += outcome.data_time_s;
            if (trace)
                FOURFOLD_CHECK(report_trace(step, *trace));
            const bool last = step + 1 == total;
            if ((step + 1) % plan_.run.log_every == 0 || last || outcome.stop)
                FOURFOLD_CHECK(report_step(step, outcome));
            if (saver_ && (last || outcome.stop || (step + 1) % plan_.run.checkpoint.every == 0))
                FOURFOLD_CHECK(save(step));
            if (outcome.stop && !last)
                return true;
            if (last || (every > 0 && (step + 1) % every == 0))
                FOURFOLD_CHECK(report_evaluation(step, last));
        }
        if (first == total) // what follows the last step was cut off
            FOURFOLD_CHECK(report_evaluation(total - 1, true));
        return false;
    }

    // Whether the step's update may be made; a Problem where the run ends instead. The same on all ranks.
    Expected<bool> look_at(int step, const StepOutcome& outcome)
    {
        if (outcome.overflow) {
            FOURFOLD_CHECK(warn_of(step, !std::exchange(overflowed_, true),
                {.message
                    = "the gradients were beyond fp16: the update was left out and the loss scale halved, as it will "
                      "be again"}));
            return false;
        }
        const auto found = rule_.look(outcome.loss, outcome.grad_norm);
        if (!found)
            return true;
        const bool spike = found->limit.has_value();
        unusable_ += spike ? 0 : 1;
        const Json rule{{"of", found->of}, {"action", to_text(found->action)}, {"value", number_or_null(found->value)},
            {"mean", number_or_null(found->mean)}, {"limit", number_or_null(found->limit)}};
        // What is not finite seldom comes once.
        FOURFOLD_CHECK(warn_of(step, spike || unusable_ == 1 || found->action == SpikeAction::stop,
            {.message = found->message, .watch = rule}));
        if (found->action != SpikeAction::stop)
            return found->action == SpikeAction::warn;
        if (saver_) // one that is under way is worth keeping
            FOURFOLD_CHECK(saver_->finish());
        return Problem{ProblemCode::failed, "step " + std::to_string(step + 1) + ": " + found->message, "", ""};
    }

    Expected<void> warn_of(int step, bool worth_it, WarningEvent warning)
    {
        if (mesh_[GroupKind::world].rank() != 0 || !worth_it)
            return {};
        warning.step = step + 1;
        return events_.write(warning);
    }

    // `step` counts finished steps, from 1. With log_every n the times are means over n steps.
    Expected<void> report_step(int step, const StepOutcome& outcome)
    {
        synchronize_gpu();
        const RankFigures ranks
            = of_all_ranks(mesh_, device_, seconds_since(interval_.begin) / std::max(1, interval_.steps));
        const auto load = trainer_.take_expert_load();
        const double time = seconds_since(interval_.begin), step_time = time / interval_.steps;
        const double data_time = interval_.data_time_s / interval_.steps;
        const StepBatch batch = step_batch(plan_.training, step);
        const double samples = batch.first + batch.size, seq_len = plan_.training.seq_len;
        const double fresh = samples - step_batch(plan_.training, step + 1 - interval_.steps).first;
        interval_ = {};
        if (mesh_[GroupKind::world].rank() != 0)
            return {};
        const Throughput speed = throughput(plan_, fresh * seq_len, time);
        const auto most = [](const OfRanks& values) { return *std::max_element(values.begin(), values.end()); };
        const OfRanks& memory = ranks.memory_gib(plan_.stack.memory_convention);
        std::printf("step %d  loss %.4f  grad norm %.3f  %.1f tokens/s/GPU  %.3f s\n", step + 1, outcome.loss,
            outcome.grad_norm, speed.tps_per_gpu, step_time);
        std::fflush(stdout);
        StepEvent event;
        event.step = step + 1;
        event.loss = outcome.loss;
        event.grad_norm = outcome.grad_norm;
        event.learning_rate = plan_.run.learning_rate(step, trainer_.total_steps());
        event.step_time_s = step_time;
        event.tps_per_gpu = speed.tps_per_gpu;
        event.tflops_per_gpu = speed.tflops_per_gpu;
        event.mfu = speed.mfu;
        event.memory_peak_gib = most(memory);
        event.ranks = {{"memory_peak_gib", spread_of(memory)}, {"step_time_s", spread_of(ranks.step_time_s)}};
        event.tokens = samples * seq_len;
        event.samples = samples;
        event.global_batch = batch.size;
        event.loss_scale = trainer_.loss_scaler().state().scale;
        event.skipped_steps = skipped_;
        event.nan_steps = unusable_;
        event.data_time_s = data_time;
        if (!ranks.reserved_gib.empty()) {
            event.memory_allocated_gib = most(ranks.allocated_gib);
            event.memory_reserved_gib = most(ranks.reserved_gib);
        }
        if (load)
            event.experts = {{"busiest", load->busiest}, {"layer", load->layer}, {"idle", load->idle}};
        if (load && load->busiest_rank) {
            event.experts["ranks"] = plan_.layout.ep;
            event.experts["busiest_rank"] = *load->busiest_rank;
        }
        if (load && load->dropped)
            event.experts["dropped"] = *load->dropped;
        return events_.write(event);
    }

    // After a collective, so that all ranks' clocks begin at about the same time.
    void begin_trace(std::optional<StepTrace>& trace) const
    {
        const at::Tensor nothing
            = at::zeros({1}, at::TensorOptions().dtype(at::kFloat).device(device_.cuda ? at::kCUDA : at::kCPU));
        mesh_[GroupKind::world].all_reduce(nothing);
        trace.emplace(mesh_.at.pp, synchronize_gpu);
    }

    // Its time belongs to no step.
    Expected<void> report_trace(int step, const StepTrace& trace)
    {
        const auto begin = Clock::now();
        const Timeline timeline = collect_spans(trace, mesh_, device_.cuda);
        interval_.begin += Clock::now() - begin;
        if (mesh_[GroupKind::world].rank() != 0)
            return {};
        TraceEvent event = read_event<TraceEvent>(
            chrome_trace(timeline, plan_.name + ", step " + std::to_string(step + 1) + ", measured"));
        event.step = step + 1;
        return events_.write(event);
    }

    // Its time belongs to no step.
    Expected<void> save(int step)
    {
        constexpr double kWorthAWord = 1;
        const auto begin = Clock::now();
        trainer_.settle();
        const double waited = saver_->save(step + 1);
        interval_.begin += Clock::now() - begin;
        if (waited < kWorthAWord || mesh_[GroupKind::world].rank() != 0)
            return {};
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%.1f s", waited);
        return events_.write(WarningEvent{.message = std::string("the training waited ") + seconds
                + " for the checkpoint before to be on the disk: save less often, or to a faster one",
            .step = step + 1});
    }

    // Its time belongs to no step.
    Expected<void> report_evaluation(int step, bool last)
    {
        const auto begin = Clock::now();
        FOURFOLD_TRY(const auto evaluation, trainer_.evaluate());
        const auto took = Clock::now() - begin;
        interval_.begin += took;
        if (!evaluation || mesh_[GroupKind::world].rank() != 0)
            return {};
        EvalEvent event{.step = step + 1,
            .tokens = evaluation->tokens,
            .loss = evaluation->loss,
            .time_s = std::chrono::duration<double>(took).count()};
        if (last) {
            FOURFOLD_TRY(event.unigram_entropy, trainer_.unigram_entropy());
        }
        std::printf("held-out loss %.4f\n", evaluation->loss);
        return events_.write(event);
    }

    const ResolvedPlan& plan_;
    const Mesh& mesh_;
    const Device& device_;
    Trainer& trainer_;
    EventWriter& events_;
    CheckpointSaver* saver_;
    Interval interval_;
    LossRule rule_;
    int skipped_ = 0, unusable_ = 0; // updates left out; steps with what is not finite and no matter of the loss scale
    bool overflowed_ = false;
};

// What connects this rank to the others. It lasts until the process ends: where it closes while a failure is not told
// yet, the others fail as well, and one of them may be heard first.
struct Connections {
    std::shared_ptr<Rendezvous> rendezvous;
    std::unique_ptr<Mesh> mesh;
    std::unique_ptr<Trainer> trainer;
    FileDescriptor saves_here; // no other run does
    std::unique_ptr<CheckpointSaver> saver;
};

// What became of a save, said as soon as it is known, on the thread that wrote it.
void tell_of_save(const SaveOutcome& outcome)
{
    if (identity().job.rank != 0)
        return;
    if (!outcome.set_aside.empty()) {
        std::string names;
        for (const auto& path : outcome.set_aside)
            names += (names.empty() ? "" : ", ") + path.filename().string();
        (void)identity().events->write(WarningEvent{.message = outcome.folder.parent_path().string()
                + " held checkpoints of another course of the training than this run's; so that no load mixes them up "
                  "they are kept as "
                + names + ": remove them when nobody needs them",
            .step = outcome.steps});
    }
    if (!outcome.problem) {
        (void)identity().events->write(CheckpointEvent{.step = outcome.steps,
            .bytes = int64_t(outcome.bytes),
            .path = outcome.folder.string(),
            .time_s = outcome.time_s,
            .stopped_s = outcome.stopped_s});
        return;
    }
    (void)identity().events->write(WarningEvent{.message = "there is no checkpoint of step "
            + std::to_string(outcome.steps) + ": " + outcome.problem->line() + "; the training goes on",
        .step = outcome.steps});
}

Expected<std::unique_ptr<CheckpointSaver>> make_saver(
    const Job& job, const ResolvedPlan& plan, const Mesh& mesh, const Trainer& trainer, Connections& connections)
{
    const CheckpointSettings& settings = plan.run.checkpoint;
    if (settings.every == 0)
        return std::unique_ptr<CheckpointSaver>();
    const auto folder = job.run_folder / (settings.path.empty() ? "checkpoints" : settings.path);
    if (job.rank == 0) {
        constexpr double kShareOfPatience = .75; // the others wait for this rank: it says why before they give up
        const char* const run = std::getenv("FOURFOLD_RUN");
        FOURFOLD_TRY(connections.saves_here,
            hold_folder(folder, {run ? run : "without a name", host_name()}, kShareOfPatience * job.timeout_s));
        FOURFOLD_CHECK(check_steps(folder, trainer.first_step(), trainer.total_steps(), settings.every));
    }
    FOURFOLD_TRY(auto line, connections.rendezvous->another_line());
    std::error_code ignored;
    const bool goes_on_here = fs::equivalent(trainer.loaded_from().parent_path(), folder, ignored);
    return std::make_unique<CheckpointSaver>(plan, mesh, trainer.weights(), trainer.optimizer(), trainer.loss_scaler(),
        folder, goes_on_here ? trainer.first_step() : 0, std::move(line), tell_of_save);
}

Expected<bool> train_plan(const Job& job, const ResolvedPlan& plan, Connections& connections)
{
    const int threads = use_threads(plan, job);
    at::globalContext().setDeterministicAlgorithms(plan.run.deterministic, /*warn_only=*/false);
    if (plan.training.attention == AttentionKernel::cudnn) { // or an error where it cannot
        at::globalContext().setSDPUseFlash(false);
        at::globalContext().setSDPUseMemEfficient(false);
        at::globalContext().setSDPUseMath(false);
        at::globalContext().setSDPUseCuDNN(true);
    }

    FOURFOLD_TRY(connections.rendezvous, Rendezvous::join(job));
    const auto& rendezvous = connections.rendezvous;
    identity().watch = Watch::join(job);
    if (identity().watch)
        identity().watch->start(leave_after);
    FOURFOLD_CHECK(rendezvous->meet());
    FOURFOLD_TRY(auto hosts, gather_host_facts(job, plan, *rendezvous));
    FOURFOLD_CHECK(rendezvous->agree("plans", [&] { return take_same_plans(hosts); }));
    FOURFOLD_CHECK(rendezvous->agree("devices", [&] { return check_devices(job, plan, hosts); }));
    const Device device = choose_device(job, plan, hosts.front());
    if (device.cuda)
        select_gpu(device.gpu);
    else
        pool_tensor_memory();

    if (is_to_measure()) {
        if (job.rank == 0)
            FOURFOLD_CHECK(identity().events->write(start_event(job, plan, device, hosts, threads)));
        FOURFOLD_CHECK(measure(job, plan, device, *rendezvous, threads));
        identity().watch.reset();
        rendezvous->leave();
        return false;
    }

    FOURFOLD_TRY(PlanSchedule schedule, listed_schedule(plan));
    const auto store = make_c10d_store(rendezvous->line(), job.timeout_s);
    connections.mesh = std::make_unique<Mesh>(make_mesh(
        plan, job.rank, std::move(schedule), [&](const std::string& name, const std::vector<int>& ranks, int place) {
            return make_c10d_transport(
                store.get(), {device.backend, name, place, int(ranks.size()), job.address, job.timeout_s});
        }));
    const Mesh& mesh = *connections.mesh;
    mesh.recorder->share(identity().page);
    identity().recorder = mesh.recorder;

    FOURFOLD_TRY(const int64_t padding, padding_token());
    FOURFOLD_TRY(connections.trainer, Trainer::create(plan, mesh, {device.cuda, false, padding}));
    const auto& trainer = connections.trainer;
    std::vector<std::string> notes;
    if (!plan.run.checkpoint.load.empty()) {
        FOURFOLD_TRY(notes, trainer->load());
    }
    if (!trainer->without_graphs().empty())
        notes.push_back("the training goes on without CUDA graphs: " + trainer->without_graphs());
    if (job.rank == 0) {
        FOURFOLD_CHECK(identity().events->write(start_event(job, plan, device, hosts, threads)));
        for (const std::string& note : notes)
            FOURFOLD_CHECK(identity().events->write(WarningEvent{.message = note}));
    }

    release_start_up_memory();
    loop_runs = true;
    FOURFOLD_TRY(connections.saver, make_saver(job, plan, mesh, *trainer, connections));
    FOURFOLD_TRY(
        const bool stopped, Loop(plan, mesh, device, *trainer, *identity().events, connections.saver.get()).run());
    loop_runs = false;
    identity().watch.reset();
    rendezvous->leave();
    return stopped;
}

} // namespace

bool request_stop()
{
    if (loop_runs)
        stop_wanted = true;
    return loop_runs;
}

int train(const Job& job)
{
    const std::string rank = "rank " + std::to_string(job.rank);
    identity().job = job;
    prepare_to_report();
    identity().page = std::make_shared<ProgressWriter>(
        (job.run_folder / ("rank" + std::to_string(job.rank) + ".progress")).string());
    auto events = EventWriter::open(job.run_folder, job.rank);
    if (!events) {
        identity().page->fail({FailureOrigin::own, "fail", events.error().line()});
        std::fprintf(stderr, "%s\n", events.error().line().c_str());
        return events.error().exit_status();
    }
    identity().events = *events;
    auto& connections = *new Connections;
    try {
        if (const auto usable = check_libtorch(); !usable)
            return report(usable.error(), "bad_input");
        const auto plan = read_checked_plan(job);
        if (!plan)
            return report(plan.error(), "bad_input");
        identity().coordinates = to_json(plan->layout.coordinates(job.rank));
        const auto stopped = train_plan(job, *plan, connections);
        if (stopped && *stopped && !stop_wanted) // its agent asks who was meant
            identity().page->fail({FailureOrigin::told, "fail", "another rank was asked to end by a SIGTERM"});
        if (stopped)
            return *stopped ? kStoppedStatus : 0;
        loop_runs = false; // a signal to stop ends the process at once
        Problem problem = stopped.error();
        if (problem.exit_status() == 2)
            return report(problem, "bad_input");
        problem.where = problem.where.empty() ? rank : rank + " " + problem.where;
        return report(problem, kind_of(problem.message));
    } catch (const std::system_error& error) {
        loop_runs = false;
        return report_exception(std::string(error.what()) + ": " + problem_of_thrown("").line());
    } catch (const std::exception& error) {
        loop_runs = false;
        return report_exception(error.what());
    }
}

} // namespace fourfold::trainer
