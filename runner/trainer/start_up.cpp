// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/start_up.h"

#include "core/layout/batch_ramp.h"
#include "core/plan/trainable.h"
#include "runner/trainer/device/device.h"
#include "runner/trainer/metrics/host_facts.h"
#include "runner/trainer/metrics/loss_rule.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fourfold::trainer {

namespace {
// LibTorch's OpenMP threads wait for each other by spinning: where other processes want the same cores, a step takes
// ten times as long. Its runtime reads the limit when it is loaded, so the program starts once more, in the same
// process, and gets back the token that it has wiped from its environment.
void spin_briefly(int threads, const std::string& token)
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
    if (!token.empty())
        ::setenv(kTokenVariable, token.c_str(), 1);
    ::execv("/proc/self/exe", argv.data()); // returns only where it failed: then it is slower, no more
    ::unsetenv(kTokenVariable);
}
} // namespace

int threads_of_rank(const ResolvedPlan& plan)
{
    const int ranks_here = std::min(plan.gpus, std::max(1, plan.cluster.gpus_per_node));
    return std::getenv("OMP_NUM_THREADS") ? at::get_num_threads() : std::max(1, usable_cores() / ranks_here);
}

int use_threads(const ResolvedPlan& plan, const Job& job)
{
    const int threads = threads_of_rank(plan);
    spin_briefly(threads, job.token);
    at::set_num_threads(threads);
    return threads;
}

Expected<int64_t> padding_token()
{
    const char* const variable = std::getenv("FOURFOLD_PADDING");
    const std::string text = variable ? variable : "";
    int64_t token = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
    if (!text.empty() && (error != std::errc{} || end != text.data() + text.size() || token < 0))
        return Problem{ProblemCode::bad_input, "expected the id of a token, got \"" + text + "\"", "",
            "environment variable FOURFOLD_PADDING"};
    return token;
}

bool is_to_measure()
{
    const char* const variable = std::getenv("FOURFOLD_MEASURE");
    return variable != nullptr && std::string(variable) == "1";
}

namespace {
// Parts that a library never writes to come back from the page cache where they are needed.
int release_unwritten_parts(dl_phdr_info* library, std::size_t, void*)
{
    constexpr std::uintptr_t kPage = 4096;
    if (std::strstr(library->dlpi_name, "/libtorch") == nullptr)
        return 0;
    for (const auto* part = library->dlpi_phdr; part != library->dlpi_phdr + library->dlpi_phnum; ++part) {
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) != 0)
            continue;
        const std::uintptr_t begin = (library->dlpi_addr + part->p_vaddr) / kPage * kPage;
        const std::uintptr_t end = library->dlpi_addr + part->p_vaddr + part->p_memsz;
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 0;
}
} // namespace

// What starting touched and training does not: LibTorch's code that registered its operators, its tables of symbols and
// relocations (together half of a small rank's memory), and the heap's free pages.
void release_start_up_memory()
{
    ::malloc_trim(0);
    ::dl_iterate_phdr(release_unwritten_parts, nullptr);
}

Expected<ResolvedPlan> read_checked_plan(const std::filesystem::path& file)
{
    const std::string where = file.string();
    FOURFOLD_TRY(const Json document, read_json_file(file));
    FOURFOLD_TRY(ResolvedPlan plan, read_resolved(document, where));
    auto reasons = check(plan);
    for (Reason& reason : trainer_limits(plan))
        reasons.push_back(std::move(reason));
    if (!reasons.empty())
        return Problem{ProblemCode::bad_input, reasons[0].message, "", where + " " + reasons[0].field};
    return plan;
}

Expected<ResolvedPlan> read_checked_plan(const Job& job)
{
    FOURFOLD_TRY(ResolvedPlan plan, read_checked_plan(job.plan_file));
    if (plan.gpus != job.world_size)
        return Problem{ProblemCode::bad_input,
            "the plan is for " + std::to_string(plan.gpus) + " ranks, the job has " + std::to_string(job.world_size),
            "start as many ranks as the plan's gpus", job.plan_file.string() + " gpus"};
    return plan;
}

Expected<void> check_libtorch()
{
    const std::string loaded = at::show_config();
    const std::string wanted = TORCH_VERSION;
    if (loaded.find("TORCH_VERSION=" + wanted) != std::string::npos)
        return {};
    return Problem{ProblemCode::unsupported, "the loaded LibTorch is not " + wanted,
        "point FOURFOLD_LIBTORCH or the library path to LibTorch " + wanted, "libtorch_cpu.so"};
}

namespace {
// What of a plan is the same for all ranks of a job: files may lie elsewhere on each node.
std::string shared_hash(ResolvedPlan plan)
{
    for (std::vector<DataSource>* const sources : {&plan.run.data, &plan.run.eval.data})
        for (DataSource& source : *sources)
            source.path = std::filesystem::path(source.path).filename().string();
    plan.training.schedule_csv = std::filesystem::path(plan.training.schedule_csv).filename().string();
    return plan_hash(plan);
}
} // namespace

Expected<std::vector<Json>> gather_host_facts(const Job& job, const ResolvedPlan& plan, Rendezvous& rendezvous)
{
    Json own{{"rank", job.rank}, {"host", host_name()}, {"address", job.address}, {"kernel", kernel_release()}};
    own.update(gpu_claim(job.local_rank, gpu_ids()));
    own.update(cpu_facts());
    own["plan"] = shared_hash(plan);
    FOURFOLD_CHECK(rendezvous.publish("host/" + std::to_string(job.rank), own.dump()));
    if (job.rank != 0)
        return std::vector<Json>{std::move(own)};
    std::vector<std::string> keys;
    for (int rank = 0; rank < job.world_size; ++rank)
        keys.push_back("host/" + std::to_string(rank));
    FOURFOLD_TRY(const auto texts, rendezvous.read(keys));
    std::vector<Json> hosts;
    for (int rank = 0; rank < job.world_size; ++rank) {
        FOURFOLD_TRY(Json facts, parse_json(texts[std::size_t(rank)], "host facts of rank " + std::to_string(rank)));
        hosts.push_back(std::move(facts));
    }
    return hosts;
}

Expected<void> take_same_plans(std::vector<Json>& hosts)
{
    const Json first = hosts.front().at("plan");
    for (Json& host : hosts) {
        if (host.at("plan") != first)
            return Problem{ProblemCode::bad_input,
                "rank " + host.at("rank").dump() + " on " + host.at("host").get<std::string>()
                    + " has another plan than rank 0",
                "start all ranks of a job with one plan", "--plan"};
        host.erase("plan");
    }
    return {};
}

StartEvent start_event(
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
    StartEvent event{.run = job.run_id, .plan_hash = plan_hash(plan)};
    event.mesh = {{"tp", plan.layout.tp}, {"cp", plan.layout.cp}, {"pp", plan.layout.pp}, {"dp", plan.layout.dp},
        {"order", order}};
    event.hosts = hosts;
    event.versions = {{"fourfold", FOURFOLD_VERSION}, {"torch", TORCH_VERSION}, {"compiler", compiler_version()},
        {"backend", device.backend}, {"nccl", nccl.empty() ? Json(nullptr) : Json(nccl)},
        {"gloo", device.backend == "gloo" ? Json("in LibTorch " TORCH_VERSION) : Json(nullptr)},
        {"kernel", kernel_release()}};
    event.hardware = hardware;
    event.environment = plan.run.environment;
    event.steps = total_steps(plan.training, plan.run);
    event.watch
        = LossRule(plan.run.watch, plan.training.precision == Precision::fp16, plan.training.optimizer_in_backward)
              .promises();
    event.global_batch = plan.training.global_batch;
    event.seq_len = plan.training.seq_len;
    return event;
}

} // namespace fourfold::trainer
