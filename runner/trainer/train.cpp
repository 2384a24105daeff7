// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/train.h"

#include "core/plan/plan.h"
#include "core/plan/trainable.h"
#include "runner/trainer/comm/c10d_transport.h"
#include "runner/trainer/device/device.h"
#include "runner/trainer/metrics/event_writer.h"
#include "runner/trainer/metrics/host_facts.h"
#include "runner/trainer/metrics/throughput.h"
#include "runner/trainer/trainer.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/tensor.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace fourfold::trainer {

namespace {
using Clock = std::chrono::steady_clock;

std::atomic<bool> loop_runs{false};
std::atomic<bool> stop_wanted{false};

// What an error event says about this rank; set as soon as it is known. Read by report_fatal from any thread.
struct Identity {
    std::shared_ptr<EventWriter> events;
    std::shared_ptr<FlightRecorder> recorder;
    Json coordinates = nullptr;
    double timeout_s = 0;
} identity;

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string first_line(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

Json optional_number(std::optional<double> value)
{
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

// "oom", "hang" or "fail": what the user has to do differs.
std::string kind_of(const std::string& what)
{
    const auto says = [&](const char* words) { return what.find(words) != std::string::npos; };
    if (says("out of memory") || says("bad_alloc") || says("can't allocate memory"))
        return "oom";
    if (says("imed out") || says("imeout")
        || (identity.recorder && identity.recorder->stuck_for(0.9 * identity.timeout_s)))
        return "hang";
    return "fail";
}

// One event and one line; returns the exit status.
int report(const Problem& problem, const std::string& kind)
{
    const std::string last = identity.recorder ? identity.recorder->last() : "";
    std::fprintf(stderr, "%s%s\n", problem.line().c_str(), last.empty() ? "" : ("; last collective: " + last).c_str());
    if (identity.events)
        (void)identity.events->write("error",
            {{"kind", kind}, {"host", host_name()}, {"mesh", identity.coordinates}, {"message", problem.line()},
                {"last_collective", last.empty() ? Json(nullptr) : Json(last)}});
    return problem.exit_status();
}

Expected<ResolvedPlan> read_checked_plan(const Job& job)
{
    const std::string where = job.plan_file.string();
    FOURFOLD_TRY(const Json document, read_json_file(job.plan_file));
    FOURFOLD_TRY(ResolvedPlan plan, read_resolved(document, where));
    auto reasons = check(plan);
    for (Reason& reason : trainer_limits(plan))
        reasons.push_back(std::move(reason));
    if (!reasons.empty())
        return Problem{ProblemCode::bad_input, reasons[0].message,
            reasons[0].nearest.empty() ? "" : "use " + reasons[0].nearest, where + " " + reasons[0].field};
    if (plan.gpus != job.world_size)
        return Problem{ProblemCode::bad_input,
            "the plan is for " + std::to_string(plan.gpus) + " ranks, the job has " + std::to_string(job.world_size),
            "start as many ranks as the plan's gpus", where + " gpus"};
    return plan;
}

// The program was compiled against one LibTorch; another one may crash or, worse, compute something else.
Expected<void> check_libtorch()
{
    const std::string loaded = at::show_config();
    const std::string wanted = TORCH_VERSION;
    if (loaded.find("TORCH_VERSION=" + wanted) != std::string::npos)
        return {};
    return Problem{ProblemCode::unsupported, "the loaded LibTorch is not " + wanted,
        "point FOURFOLD_LIBTORCH or the library path to LibTorch " + wanted, "libtorch_cpu.so"};
}

struct Device {
    bool cuda = false;
    std::string backend = "gloo";
};

// All ranks must come to the same backend: NCCL only where every rank said that it has a GPU of its own.
Expected<Device> choose_device(const Job& job, const std::vector<Json>& hosts)
{
    const bool all_have_gpus = std::ranges::all_of(hosts, [](const Json& host) { return host["has_gpu"].get<bool>(); });
    Device device;
    device.cuda = all_have_gpus && job.backend != "gloo";
    device.backend = device.cuda ? "nccl" : "gloo";
    if (job.backend == "nccl" && !all_have_gpus)
        return Problem{ProblemCode::unsupported, "NCCL needs a GPU for each rank, and some rank has none",
            "use the backend gloo, or fourfold-trainer-cuda on nodes with enough GPUs", "FOURFOLD_BACKEND"};
    if (device.cuda)
        select_gpu(job.local_rank);
    return device;
}

// Every rank tells what it runs on; everyone knows all of it.
Expected<std::vector<Json>> exchange_host_facts(const Job& job, Rendezvous& rendezvous)
{
    Json own{{"rank", job.rank}, {"host", host_name()}, {"address", job.address}, {"kernel", kernel_release()},
        {"has_gpu", gpu_count() > job.local_rank}};
    own.update(cpu_facts());
    FOURFOLD_CHECK(rendezvous.publish("host/" + std::to_string(job.rank), own.dump()));
    std::vector<Json> hosts;
    for (int rank = 0; rank < job.world_size; ++rank) {
        FOURFOLD_TRY(const std::string text, rendezvous.read("host/" + std::to_string(rank)));
        FOURFOLD_TRY(Json facts, parse_json(text, "host facts of rank " + std::to_string(rank)));
        hosts.push_back(std::move(facts));
    }
    return hosts;
}

Json start_event(
    const Job& job, const ResolvedPlan& plan, const Device& device, const std::vector<Json>& hosts, int threads)
{
    Json order = Json::array();
    for (const Dimension dimension : plan.layout.order)
        order.push_back(name(dimension));
    Json hardware = cpu_facts();
    hardware["threads_per_rank"] = threads;
    if (device.cuda)
        hardware.update(gpu_facts());
    const std::string nccl = nccl_version();
    return {{"run", job.run_id.empty() ? Json(nullptr) : Json(job.run_id)}, {"plan_hash", plan_hash(plan)},
        {"mesh",
            {{"tp", plan.layout.tp}, {"cp", plan.layout.cp}, {"pp", plan.layout.pp}, {"dp", plan.layout.dp},
                {"order", order}}},
        {"hosts", hosts},
        {"versions",
            {{"fourfold", FOURFOLD_VERSION}, {"torch", TORCH_VERSION}, {"compiler", compiler_version()},
                {"backend", device.backend}, {"nccl", nccl.empty() ? Json(nullptr) : Json(nccl)},
                {"gloo", device.backend == "gloo" ? Json("in LibTorch " TORCH_VERSION) : Json(nullptr)},
                {"kernel", kernel_release()}}},
        {"hardware", hardware}, {"environment", plan.run.environment},
        {"steps", plan.run.total_steps(plan.tokens_per_step())}, {"global_batch", plan.training.global_batch},
        {"seq_len", plan.training.seq_len}};
}

// The largest of all ranks.
double memory_peak_gib(const Mesh& mesh, const Device& device)
{
    const at::Tensor peak = at::tensor(device.cuda ? gpu_peak_gib() : resident_peak_gib(),
        at::TensorOptions().dtype(at::kDouble).device(device.cuda ? at::kCUDA : at::kCPU));
    mesh.world.all_reduce(peak, Reduce::max);
    return peak.cpu().item<double>();
}

// Steps since the last `step` event.
struct Interval {
    Clock::time_point begin = Clock::now();
    int steps = 0;
    double data_time_s = 0;
};

class Loop {
public:
    Loop(const ResolvedPlan& plan, const Mesh& mesh, const Device& device, Trainer& trainer, EventWriter& events)
        : plan_(plan)
        , mesh_(mesh)
        , device_(device)
        , trainer_(trainer)
        , events_(events)
    {
    }

    // All steps; true when it was stopped before the last one.
    Expected<bool> run()
    {
        const int total = trainer_.total_steps(), every = plan_.run.eval.every;
        for (int step = 0; step < total; ++step) {
            FOURFOLD_TRY(StepOutcome outcome, trainer_.accumulate_gradients(step, stop_wanted));
            trainer_.update(step, outcome);
            ++interval_.steps;
            interval_.data_time_s += outcome.data_time_s;
            FOURFOLD_CHECK(count_unusable(step, outcome));
            const bool last = step + 1 == total;
            if ((step + 1) % plan_.run.log_every == 0 || last || outcome.stop)
                FOURFOLD_CHECK(report_step(step, outcome));
            if (outcome.stop && !last)
                return true;
            if (last || (every > 0 && (step + 1) % every == 0))
                FOURFOLD_CHECK(report_evaluation(step, last));
        }
        return false;
    }

private:
    Expected<void> count_unusable(int step, const StepOutcome& outcome)
    {
        if (outcome.applied)
            return {};
        ++unusable_;
        if (mesh_.world.rank() != 0 || unusable_ > 1)
            return {};
        return events_.write("warning",
            {{"step", step + 1},
                {"message",
                    "the loss or the gradient norm is not finite: the update was left out (lower run.lr or set "
                    "run.clip_norm)"}});
    }

    // `step` counts finished steps, from 1. With log_every n the times are means over n steps.
    Expected<void> report_step(int step, const StepOutcome& outcome)
    {
        synchronize_gpu();
        const double memory = memory_peak_gib(mesh_, device_);
        const double step_time = seconds_since(interval_.begin) / interval_.steps;
        const double data_time = interval_.data_time_s / interval_.steps;
        interval_ = {};
        if (mesh_.world.rank() != 0)
            return {};
        const Throughput speed = throughput(plan_, step_time);
        const double samples = double(step + 1) * plan_.training.global_batch;
        std::printf("step %d  loss %.4f  grad norm %.3f  %.1f tokens/s/GPU  %.3f s\n", step + 1, outcome.loss,
            outcome.grad_norm, speed.tps_per_gpu, step_time);
        std::fflush(stdout);
        return events_.write("step",
            {{"step", step + 1}, {"loss", optional_number(outcome.loss)},
                {"grad_norm", optional_number(outcome.grad_norm)},
                {"learning_rate", plan_.run.learning_rate(step, trainer_.total_steps())}, {"step_time_s", step_time},
                {"tps_per_gpu", speed.tps_per_gpu}, {"tflops_per_gpu", speed.tflops_per_gpu},
                {"mfu", optional_number(speed.mfu)}, {"memory_peak_gib", memory},
                {"tokens", samples * plan_.training.seq_len}, {"samples", samples},
                {"global_batch", plan_.training.global_batch}, {"loss_scale", 1}, {"skipped_steps", unusable_},
                {"nan_steps", unusable_}, {"data_time_s", data_time}});
    }

    // Its time belongs to no step.
    Expected<void> report_evaluation(int step, bool last)
    {
        const auto begin = Clock::now();
        FOURFOLD_TRY(const auto evaluation, trainer_.evaluate());
        const auto took = Clock::now() - begin;
        interval_.begin += took;
        if (!evaluation || mesh_.world.rank() != 0)
            return {};
        Json fields{{"step", step + 1}, {"loss", optional_number(evaluation->loss)}, {"tokens", evaluation->tokens},
            {"time_s", std::chrono::duration<double>(took).count()}};
        if (last)
            fields["unigram_entropy"] = optional_number(trainer_.unigram_entropy());
        std::printf("held-out loss %.4f\n", evaluation->loss);
        return events_.write("eval", fields);
    }

    const ResolvedPlan& plan_;
    const Mesh& mesh_;
    const Device& device_;
    Trainer& trainer_;
    EventWriter& events_;
    Interval interval_;
    int unusable_ = 0;
};

// LibTorch's OpenMP threads wait for each other by spinning: where other processes want the same cores, a step takes
// ten times as long. Its runtime reads the limit when it is loaded, so the program starts once more, in the same
// process.
void spin_briefly(int threads)
{
    if (threads == 1 || std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT"))
        return;
    ::setenv("GOMP_SPINCOUNT", "20000", 1); // some tens of microseconds
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(file, argument, '\0');)
        arguments.push_back(argument);
    std::vector<char*> argv;
    for (std::string& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv("/proc/self/exe", argv.data()); // returns only where it failed: then it is slower, no more
}

// The cores of a node, shared among its ranks, unless OMP_NUM_THREADS says otherwise.
int use_threads(const ResolvedPlan& plan)
{
    const int ranks_here = std::min(plan.gpus, std::max(1, plan.cluster.gpus_per_node));
    const int threads
        = std::getenv("OMP_NUM_THREADS") ? at::get_num_threads() : std::max(1, usable_cores() / ranks_here);
    spin_briefly(threads);
    at::set_num_threads(threads);
    return threads;
}

Expected<bool> train_plan(const Job& job, const ResolvedPlan& plan)
{
    const int threads = use_threads(plan);
    at::globalContext().setDeterministicAlgorithms(plan.run.deterministic, /*warn_only=*/false);

    FOURFOLD_TRY(const auto rendezvous, Rendezvous::meet(job));
    FOURFOLD_TRY(const auto hosts, exchange_host_facts(job, *rendezvous));
    FOURFOLD_TRY(const Device device, choose_device(job, hosts));

    const Mesh mesh
        = make_mesh(plan.layout, job.rank, plan.model.kv_heads, [&](const std::string& name, int rank, int size) {
              return make_c10d_transport(
                  rendezvous->store(), {device.backend, name, rank, size, job.address, job.timeout_s});
          });
    identity.recorder = mesh.recorder;

    FOURFOLD_TRY(const auto trainer, Trainer::create(plan, mesh, {device.cuda, false}));
    if (job.rank == 0)
        FOURFOLD_CHECK(identity.events->write("start", start_event(job, plan, device, hosts, threads)));

    loop_runs = true;
    FOURFOLD_TRY(const bool stopped, Loop(plan, mesh, device, *trainer, *identity.events).run());
    loop_runs = false;
    rendezvous->leave();
    return stopped;
}

Json to_json(const Coordinates& at)
{
    return {{"tp", at.tp}, {"cp", at.cp}, {"pp", at.pp}, {"dp", at.dp}};
}
} // namespace

bool request_stop()
{
    return loop_runs && !stop_wanted.exchange(true);
}

void report_fatal(const std::string& what)
{
    report(Problem{ProblemCode::failed, first_line(what), "", ""}, kind_of(what));
}

int train(const Job& job)
{
    auto events = EventWriter::open(job.run_folder, job.rank);
    if (!events) {
        std::fprintf(stderr, "%s\n", events.error().line().c_str());
        return events.error().exit_status();
    }
    identity.events = *events;
    identity.timeout_s = job.timeout_s;
    const std::string rank = "rank " + std::to_string(job.rank);
    try {
        if (const auto usable = check_libtorch(); !usable)
            return report(usable.error(), "bad_input");
        const auto plan = read_checked_plan(job);
        if (!plan)
            return report(plan.error(), "bad_input");
        identity.coordinates = to_json(plan->layout.coordinates(job.rank));
        const auto stopped = train_plan(job, *plan);
        if (stopped)
            return *stopped ? kStoppedStatus : 0;
        Problem problem = stopped.error();
        if (problem.exit_status() == 2)
            return report(problem, "bad_input");
        problem.where = problem.where.empty() ? rank : rank + " " + problem.where;
        return report(problem, kind_of(problem.message));
    } catch (const std::exception& error) { // from LibTorch: a peer gone, a time-out, no memory
        return report(Problem{ProblemCode::failed, first_line(error.what()), "", rank}, kind_of(error.what()));
    }
}

} // namespace fourfold::trainer
