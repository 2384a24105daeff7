// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/compare.h"

#include "core/plan/trainable.h"
#include "tests/parity/ranks.h"
#include "tests/parity/standing_worker.h"
#include "tests/parity/tiny_plans.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace fourfold::testing {

using namespace std::chrono_literals;

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Case of_steps(Case c, int steps)
{
    constexpr int kStepsOfRampUp = 6; // the fifth ends it
    const auto ramps = [](const std::string& setting) { return setting.starts_with("training.ramp_up"); };
    if (std::ranges::any_of(c.model, ramps))
        steps = std::max(steps, kStepsOfRampUp);
    c.model.emplace_back("run.steps=" + std::to_string(steps));
    return c;
}

std::string run_ranks(const ResolvedPlan& plan, const std::filesystem::path& folder,
    const std::vector<std::string>& flags, const std::map<std::string, std::string>& environment)
{
    std::filesystem::create_directories(folder);
    const std::string count = std::to_string(plan.gpus);
    auto variables = plan.run.environment;
    variables.insert(environment.begin(), environment.end());
    variables.merge(rank_environment(0, plan.gpus));
    const bool gpu = std::ranges::find(flags, "--gpu") != flags.end();
    // One process, of which the ranks are forked.
    static StandingWorker on_cpus(parity_worker()), on_a_gpu(cuda_parity_worker());
    (void)(gpu ? on_a_gpu : on_cpus)
        .run(joined({"--ranks", count, "--plan", write_plan(plan, folder), "--run-dir", folder}, flags), variables,
            folder / "rank0.log", 200s);
    const auto statuses = read_json_file(folder / "statuses.json");
    for (int rank = 0; rank < plan.gpus; ++rank)
        if (!statuses || (*statuses)[std::size_t(rank)] != 0)
            return "rank " + std::to_string(rank)
                + (statuses ? " (exit status " + (*statuses)[std::size_t(rank)].dump() + "): " : ": ")
                + log_of(folder, rank);
    return "";
}

JobResult run_job(const ResolvedPlan& plan, const std::filesystem::path& folder, const std::vector<std::string>& flags,
    const std::map<std::string, std::string>& environment)
{
    JobResult result{{}, {}, run_ranks(plan, folder, flags, environment)};
    for (int rank = 0; rank < plan.gpus && result.problem.empty(); ++rank) {
        result.dumps.push_back(read_dump(folder, rank));
        if (std::ranges::find(flags, "--both") != flags.end())
            result.single.push_back(read_dump(folder, rank, ".fp32"));
    }
    return result;
}

Differences compare(const std::vector<Dump>& dumps, const Dump& one)
{
    Differences worst;
    const auto relative = [](double a, double b) {
        const double difference = std::abs(a - b) / std::abs(b);
        return std::isfinite(difference) ? difference : INFINITY;
    };
    worst.first_loss = 0;
    std::set<std::string> seen;
    for (const Dump& dump : dumps) {
        if (dump.losses.size() != one.losses.size())
            worst.problem = "another number of steps";
        for (std::size_t step = 0; step < std::min(one.losses.size(), dump.losses.size()); ++step) {
            worst.loss = std::max(worst.loss, relative(dump.losses[step], one.losses[step]));
            worst.grad_norm = std::max(worst.grad_norm, relative(dump.grad_norms[step], one.grad_norms[step]));
        }
        worst.first_loss = std::max(worst.first_loss, relative(dump.losses.at(0), one.losses.at(0)));
        worst.eval_loss = std::max(worst.eval_loss, relative(dump.eval_loss, one.eval_loss));
        for (const auto& [name, tensor] : dump.tensors) {
            seen.insert(name);
            const auto reference = one.tensors.find(name);
            if (reference == one.tensors.end()) {
                worst.problem = "one rank has no " + name;
                continue;
            }
            const double gradient = worst_difference(tensor, reference->second, &DumpedTensor::gradient);
            if (gradient > worst.gradient || worst.worst_tensor.empty()) {
                worst.gradient = gradient;
                worst.worst_tensor = name;
            }
            worst.weight = std::max(worst.weight, worst_difference(tensor, reference->second, &DumpedTensor::weight));
        }
    }
    for (const auto& [name, tensor] : one.tensors)
        if (!seen.contains(name))
            worst.problem = "no rank of the mesh has " + name;
    return worst;
}

std::string excess(const Differences& worst)
{
    std::string text = worst.problem;
    const auto bound = [&](const char* what, double value, double most) {
        if (!(value < most))
            text += (text.empty() ? "" : "; ") + std::string(what) + " " + std::to_string(value / most)
                + " times its bound";
    };
    bound("loss", worst.loss, 1e-12);
    bound("held-out loss", worst.eval_loss, 1e-12);
    bound("gradient norm", worst.grad_norm, 1e-10);
    bound(("gradient of " + worst.worst_tensor).c_str(), worst.gradient, 1e-10);
    bound("weights", worst.weight, 1e-9);
    bound("fp32 loss", worst.single_loss, 1e-6);
    bound("fp32 gradients", worst.single_gradient, 1e-5);
    return text;
}

Differences compare_with_one_rank(
    const Case& c, const std::vector<std::string>& one_flags, const std::vector<std::string>& mesh_flags)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const ResolvedPlan mesh = tiny_plan(tokens, joined(c.model, c.mesh));
    Differences nothing{INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, "", "", 0, 0, mesh};
    auto reasons = check(mesh);
    for (const Reason& reason : trainer_limits(mesh))
        reasons.push_back(reason);
    for (const Reason& reason : reasons)
        nothing.problem += reason.field + ": " + reason.message + "; ";
    if (!reasons.empty())
        return nothing;
    // Numbers of 8 bits share scales over a micro-batch: one rank takes those of all replicas together.
    auto one_model = c.model, flags = one_flags;
    if (const int dp = mesh.layout.dp; mesh.training.precision == Precision::fp8 && dp > 1) {
        one_model.push_back("training.micro_batch=" + std::to_string(mesh.training.micro_batch * dp));
        flags.insert(flags.end(), {"--replicas", std::to_string(dp)});
    }
    // A program that compares many meshes trains each one rank once.
    static std::map<std::vector<std::string>, JobResult> known;
    const auto key = joined(joined(one_model, {"flags"}), flags);
    if (!known.contains(key))
        known[key] = run_job(tiny_plan(tokens, one_model), folder.path() / "one", flags);
    const JobResult& one = known[key];
    const auto many = run_job(mesh, folder.path() / "many", mesh_flags);
    nothing.problem = one.problem + many.problem;
    if (!nothing.problem.empty())
        return nothing;
    Differences worst = compare(many.dumps, one.dumps[0]);
    worst.learned = one.dumps[0].losses.back() / one.dumps[0].losses.front();
    worst.overlapped = many.dumps[0].overlapped;
    worst.published_beside = many.dumps[0].published_beside;
    worst.replays = std::ranges::min(many.dumps, {}, &Dump::replays).replays;
    if (!many.single.empty()) {
        const Differences single = compare(many.single, one.single.at(0));
        worst.problem = single.problem;
        worst.single_loss = std::max(single.loss, single.eval_loss);
        worst.single_gradient = single.gradient;
    }
    worst.mesh = mesh;
    return worst;
}

} // namespace fourfold::testing
