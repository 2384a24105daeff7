// SPDX-License-Identifier: GPL-3.0-or-later
// One rank of a comparison: trains as fourfold-trainer does and writes what the tests compare.
//   parity-worker --plan P --run-dir D [--gpu] [--fp64 | --both] [--corrupt GROUP.OPERATION]
// --fp64: weights and arithmetic in fp64. --both: in fp64, then the first step once more in fp32. --corrupt: the named
// collective leaves out the other ranks' data, on this group alone, e.g. "tp.all_reduce"; a comparison with one rank
// must notice. --gpu (parity-worker-cuda): tensors on the first GPU, which all ranks share, and messages over Gloo.
// --nccl: with --gpu, messages over NCCL, for which each rank is a host of its own: on one host it lets no two ranks
// have the same GPU.
// cp.balance: the chunks of the sequence are dealt to other ranks than attention expects.
//   [--replicas N]
// --replicas: each micro-batch holds what those of so many replicas would hold together.
//   [--nccl-rules N] [--one-queue] [--wiring stages | pairs | late] [--timeout S]
// --nccl-rules: messages and collectives go by NCCL's rules, with N operations at once (comm/nccl_rules.h).
// --one-queue: as with CUDA_DEVICE_MAX_CONNECTIONS=1. --wiring: pipeline messages do not have a communicator for each
// link, but one for activations and one for gradients of all stages, or one for each two stages; or each link has its
// own, whose connection is made by its first message: what NCCL would not forgive.
//   [--ranks N]
// --ranks: this process forks N ranks, which then need not load LibTorch one by one (a quarter of a second of a core),
// and writes DIR/statuses.json: the exit status of each, or 128 + signal. Their output goes to DIR/rank<r>.log.
//   --standing
// --standing, alone: waits on descriptor 3 for jobs (standing_worker.h) and becomes each of them in a child.
//   [--graphs]
// --graphs: where the plan asks for CUDA graphs, stand-ins of a CPU record the layers (graph_stand_in.h).
//   [--count]
// --count: writes DIR/counts<rank>.json instead: what its second step sends and computes, its tensors' peak, and which
// experts got how many tokens in both steps.
//   [--stretch S]
// --stretch: writes DIR/stretched<rank>.json instead: its steps when forward, input gradient and weight gradient of a
// chunk take S seconds each (stretched_actions.h).
#include "core/layout/batch_ramp.h"
#include "runner/trainer/comm/c10d_store.h"
#include "runner/trainer/comm/c10d_transport.h"
#include "runner/trainer/comm/nccl_rules.h"
#include "runner/trainer/device/device.h"
#include "runner/trainer/start_up.h"
#include "runner/trainer/trainer.h"
#include "tests/parity/counted_work.h"
#include "tests/parity/graph_stand_in.h"
#include "tests/parity/stretched_actions.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fourfold;
using namespace fourfold::trainer;

namespace {

class Corrupted final : public Transport {
public:
    Corrupted(std::shared_ptr<Transport> inner, std::string operation)
        : inner_(std::move(inner))
        , operation_(std::move(operation))
    {
    }
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        return inner_->all_reduce(operation_ == "all_reduce" ? tensor.clone() : tensor, reduce);
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) override
    {
        if (operation_ != "all_gather")
            return inner_->all_gather(out, in);
        for (int r = 0; r < size(); ++r)
            out.narrow(0, r * in.size(0), in.size(0)).copy_(in);
        return inner_->all_gather(at::Tensor(out.clone()), in);
    }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) override
    {
        const at::Tensor own = in.narrow(0, rank() * out.size(0), out.size(0)).clone();
        auto pending = inner_->reduce_scatter(out, in);
        if (operation_ == "reduce_scatter") {
            pending->wait();
            out.copy_(own);
        }
        return pending;
    }
    // "send_receive": half of what should have been sent arrives. "dropped": every second micro-batch arrives as zeros.
    // "swapped": neighbouring micro-batches arrive in each other's place. "wrong_peer": waits for the next rank.
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        auto wrong = transfers;
        for (Transfer& transfer : wrong) {
            const bool sends = transfer.way == Transfer::Way::send;
            if (sends && operation_ == "send_receive")
                transfer.tensor = transfer.tensor.mul(0.5);
            else if (sends && operation_ == "dropped" && transfer.tag % 2 == 1)
                transfer.tensor = transfer.tensor.mul(0);
            else if (!sends && operation_ == "swapped")
                transfer.tag ^= 1;
            else if (!sends && operation_ == "wrong_peer")
                transfer.peer = (transfer.peer + 1) % size();
        }
        return inner_->exchange(wrong);
    }
    [[nodiscard]] int rank() const override { return inner_->rank(); }
    [[nodiscard]] int size() const override { return inner_->size(); }

private:
    std::shared_ptr<Transport> inner_;
    std::string operation_;
};

template <typename T>
T value(Expected<T> expected)
{
    if (!expected)
        throw std::runtime_error(expected.error().line());
    return *std::move(expected);
}

std::vector<double> elements(const at::Tensor& tensor)
{
    const at::Tensor plain = tensor.detach().to(at::kDouble).cpu().contiguous();
    return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

// What the first step sent, without the gathers that this program adds in its middle.
using Totals = std::map<std::pair<std::string, std::string>, FlightRecorder::Total>;
Json bytes_of_a_step(const Totals& start, const Totals& before, const Totals& after, const Totals& all)
{
    Json bytes = Json::object();
    for (const auto& [key, total] : all) {
        const auto bytes_in = [&key = key](const Totals& totals) {
            const auto found = totals.find(key);
            return found == totals.end() ? 0 : found->second.bytes;
        };
        const int64_t own = total.bytes - bytes_in(start) - (bytes_in(after) - bytes_in(before));
        if (own > 0)
            bytes[key.first][key.second] = own;
    }
    return bytes;
}

// Trains at most `steps` steps and writes BASE.json and BASE.bin.
void train_and_dump(
    const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options, int steps, const std::string& base)
{
    const auto trainer = value(Trainer::create(plan, mesh, options));
    if (!plan.run.checkpoint.load.empty())
        (void)value(trainer->load());
    const Totals start = mesh.recorder->totals();
    Json index{{"losses", Json::array()}, {"grad_norms", Json::array()}};
    std::vector<std::vector<double>> gradients;
    for (int step = 0; step < std::min(steps, trainer->total_steps()); ++step) {
        StepOutcome outcome = value(trainer->accumulate_gradients(step));
        const auto before = mesh.recorder->totals();
        if (step == 0)
            for (const at::Tensor& gradient : trainer->gradients().whole())
                gradients.push_back(elements(gradient));
        const auto for_comparison = mesh.recorder->totals();
        trainer->update(step, outcome);
        if (step == 0) {
            trainer->units().end_of_pass(); // updated weights that are still on their way belong to this step
            index["step_bytes"] = bytes_of_a_step(start, before, for_comparison, mesh.recorder->totals());
        }
        index["losses"].push_back(outcome.loss);
        index["grad_norms"].push_back(outcome.grad_norm);
    }
    index["eval_loss"] = value(trainer->evaluate()).value().loss;
    index["overlapped"] = trainer->gradients().overlapped();
    index["published_beside"] = trainer->units().overlapped();
    index["replays"] = trainer->graph_replays();
    index["without_graphs"] = trainer->without_graphs();
    for (const auto& [key, total] : mesh.recorder->totals())
        index["bytes"][key.first][key.second] = total.bytes;
    if (!index.contains("bytes"))
        index["bytes"] = Json::object();

    const auto weights = trainer->weights().values();
    std::ofstream values(base + ".bin", std::ios::binary);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const Shard& shard = trainer->weights().shards()[i];
        index["tensors"].push_back(
            {{"name", shard.parameter.name}, {"full_shape", shard.parameter.shape}, {"tp_dim", shard.parameter.tp_dim},
                {"begin", shard.begin}, {"length", shard.length}, {"elements", shard.elements()}});
        for (const auto& data : {gradients[i], elements(weights[i])})
            values.write(reinterpret_cast<const char*>(data.data()), std::streamsize(data.size() * sizeof(double)));
    }
    if (!values.flush())
        throw std::runtime_error("cannot write " + base + ".bin");
    if (const auto written = write_file_atomically(base + ".json", index.dump()); !written)
        throw std::runtime_error(written.error().line());
}

// As a rehearsal does: two steps with whole batches, of which the second counts.
void train_and_count(const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options,
    const fourfold::testing::CountedWork& counted, const std::string& file)
{
    RoutingRecord routing;
    options.routing.record = &routing;
    const int64_t before = counted.bytes();
    const auto trainer = value(Trainer::create(plan, mesh, options));
    Totals start;
    double flops = 0;
    const int full = ramp_up_steps(plan.training);
    for (int step = full; step < full + 2; ++step) {
        start = mesh.recorder->totals();
        flops = counted.flops();
        StepOutcome outcome = value(trainer->accumulate_gradients(step));
        trainer->update(step, outcome);
        trainer->units().end_of_pass(); // updated weights that are still on their way belong to this step
    }
    Json counts{{"flops", counted.flops() - flops}, {"peak_bytes", counted.peak_bytes() - before},
        {"traffic", Json::array()}, {"routing", routing.exchanges()}};
    for (const auto& [key, total] : mesh.recorder->totals()) {
        const FlightRecorder::Total& old = start[key];
        if (total.count > old.count)
            counts["traffic"].push_back({key.first, key.second, total.count - old.count, total.bytes - old.bytes});
    }
    if (const auto written = write_file_atomically(file, counts.dump()); !written)
        throw std::runtime_error(written.error().line());
}

// Links with other communicators: `wiring` "stages", one for those of one kind; "pairs", one for all between the same
// two stages; "late", their own, which nothing connects before its first message.
void share_links(Mesh& mesh, const std::string& wiring, const TransportFactory& make)
{
    std::map<std::string, std::shared_ptr<Transport>> made;
    const int global = mesh.stages.at(std::size_t(mesh.at.pp));
    for (auto& [link, communicator] : mesh.links) {
        std::vector<int> ranks = wiring == "stages" ? mesh.stages : communicator.ranks();
        const int from = communicator.ranks()[0], to = communicator.ranks()[1];
        std::string name = wiring == "late" ? communicator.name() + "/late/" + std::to_string(from) : wiring;
        if (wiring != "late")
            std::ranges::sort(ranks);
        if (wiring == "stages" && !link.activations)
            name += "_back";
        for (const int rank : ranks)
            name += "/" + std::to_string(rank);
        const auto place = [&](int rank) { return int(std::ranges::find(ranks, rank) - ranks.begin()); };
        std::shared_ptr<Transport>& transport = made[name];
        if (!transport)
            transport = make(name, ranks, place(global));
        if (wiring != "late")
            transport->connect(
                global == from ? Transfer::Way::send : Transfer::Way::receive, place(global == from ? to : from));
        communicator = Communicator(name, ranks, place(global), transport, mesh.recorder);
    }
}

void work(const std::vector<std::string>& arguments)
{
    std::set<std::string> flags;
    std::map<std::string, std::string> options;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--fp64" || argument == "--both" || argument == "--gpu" || argument == "--one-queue"
            || argument == "--count" || argument == "--nccl" || argument == "--graphs")
            flags.insert(argument);
        else if (i + 1 < arguments.size())
            options[argument] = arguments[++i];
    }
    const std::string plan_file = options["--plan"], folder = options["--run-dir"], corrupt = options["--corrupt"];
    const bool both = flags.contains("--both"), fp64 = flags.contains("--fp64"), gpu = flags.contains("--gpu");
    std::optional<fourfold::testing::CountedWork> counted;
    if (flags.contains("--count"))
        counted.emplace();
    at::set_num_threads(1);
    Job job = value(job_from_environment(plan_file, folder));
    if (flags.contains("--nccl")) {
        ::setenv("NCCL_HOSTID", ("rank" + std::to_string(job.rank)).c_str(), 1);
        ::setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    }
    if (gpu)
        select_gpu(0);
    if (options.contains("--timeout"))
        job.timeout_s = std::stod(options["--timeout"]);
    const ResolvedPlan plan = value(read_resolved(value(read_json_file(plan_file)), plan_file));
    const auto rendezvous = value(Rendezvous::join(job));
    if (const auto met = rendezvous->meet(); !met)
        throw std::runtime_error(met.error().line());
    std::shared_ptr<RuledDevice> device;
    if (options.contains("--nccl-rules"))
        device = std::make_shared<RuledDevice>(RuledDevice::Limits{std::stoi(options["--nccl-rules"]),
            flags.contains("--one-queue"), std::chrono::milliseconds(int64_t(job.timeout_s * 1000))});
    const auto store = make_c10d_store(rendezvous->line(), job.timeout_s);
    const TransportFactory connect = [&](const std::string& name, const std::vector<int>& ranks, int place) {
        auto transport = make_c10d_transport(store.get(),
            {flags.contains("--nccl") ? "nccl" : "gloo", name, place, int(ranks.size()), job.address, job.timeout_s});
        const auto dot = corrupt.find('.');
        if (dot != std::string::npos && name.starts_with(corrupt.substr(0, dot) + "/"))
            transport = std::make_shared<Corrupted>(transport, corrupt.substr(dot + 1));
        return device ? under_nccl_rules(transport, name, device) : transport;
    };
    Mesh mesh = make_mesh(plan, job.rank, value(listed_schedule(plan)), connect);
    if (const std::string wiring = options["--wiring"]; !wiring.empty())
        share_links(mesh, wiring, connect);
    if (corrupt == "cp.balance") // takes the positions of another rank, but attends as itself
        mesh.at.cp = mesh[GroupKind::cp].size() - 1 - mesh.at.cp;
    const std::string base = folder + "/dump" + std::to_string(job.rank);
    const int64_t padding = value(padding_token());
    TrainerOptions how{gpu, fp64 || both, padding};
    how.keep_gradients = !counted;
    if (flags.contains("--graphs"))
        how.graphs = [] { return fourfold::testing::graphs_on_cpu(); };
    if (options.contains("--replicas"))
        how.replicas = std::stoi(options["--replicas"]);
    if (const std::string part = options["--stretch"]; !part.empty()) {
        const std::string file = folder + "/stretched" + std::to_string(job.rank) + ".json";
        if (const auto done = fourfold::testing::train_stretched(plan, mesh, how, std::stod(part), file); !done)
            throw std::runtime_error(done.error().line());
    } else if (counted)
        train_and_count(plan, mesh, how, *counted, folder + "/counts" + std::to_string(job.rank) + ".json");
    else
        train_and_dump(plan, mesh, how, INT_MAX, base);
    how.fp64 = false;
    if (both)
        train_and_dump(plan, mesh, how, 1, base + ".fp32");
    rendezvous->leave();
}

int status_of(int raw)
{
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

void print_to(const std::string& log)
{
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (out < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0)
        ::_exit(1);
}

// In a child: it ends with its parent.
void stay_with(pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        ::_exit(1);
}

// Waits for jobs on descriptor 3 (standing_worker.h); returns in the child that has become one, with its arguments.
std::vector<std::string> become_job()
{
    constexpr int kLine = 3;
    constexpr std::size_t kMost = 1 << 17;
    const pid_t parent = ::getpid();
    std::string text(kMost, '\0');
    while (true) {
        const ssize_t size = ::recv(kLine, text.data(), text.size(), 0);
        if (size <= 0)
            ::_exit(0);
        const Json job = Json::parse(text.begin(), text.begin() + size);
        const pid_t child = ::fork();
        if (child == 0) {
            stay_with(parent);
            ::close(kLine);
            print_to(job["log"].get<std::string>());
            for (const auto& [name, value] : job["environment"].items())
                ::setenv(name.c_str(), value.get<std::string>().c_str(), 1);
            return job["arguments"].get<std::vector<std::string>>();
        }
        int raw = 1 << 8; // what cannot be waited for was not started
        if (child > 0)
            ::waitpid(child, &raw, 0);
        const std::string status = std::to_string(status_of(raw));
        if (::send(kLine, status.data(), status.size(), MSG_NOSIGNAL) < 0)
            ::_exit(0);
    }
}

// Returns in each of the ranks; the parent waits for them and ends.
void become_ranks(int ranks, const std::string& folder)
{
    const pid_t parent = ::getpid();
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
        const pid_t child = ::fork();
        if (child != 0) {
            children.push_back(child);
            continue;
        }
        stay_with(parent);
        const std::string number = std::to_string(rank);
        print_to(folder + "/rank" + number + ".log");
        ::setenv("RANK", number.c_str(), 1);
        ::setenv("LOCAL_RANK", number.c_str(), 1);
        return;
    }
    Json statuses = Json::array();
    for (const pid_t child : children) {
        int raw = 1 << 8; // what cannot be waited for was not started
        if (child > 0)
            ::waitpid(child, &raw, 0);
        statuses.push_back(status_of(raw));
    }
    ::_exit(write_file_atomically(folder + "/statuses.json", statuses.dump()) ? 0 : 1);
}

} // namespace

int main(int argc, char** argv)
{
    int status = 0;
    try {
        std::vector<std::string> arguments(argv, argv + argc);
        if (std::ranges::find(arguments, "--standing") != arguments.end())
            arguments = become_job();
        const auto after = [&](const char* option) {
            const auto found = std::ranges::find(arguments, option);
            return found == arguments.end() ? "" : *std::next(found);
        };
        if (const std::string ranks = after("--ranks"); !ranks.empty())
            become_ranks(std::stoi(ranks), after("--run-dir"));
        work(arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    std::fflush(nullptr);
    ::_exit(status);
}
