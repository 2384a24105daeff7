// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/start_nodes.h"

#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/nodes/stage_nodes.h"
#include "runner/preflight/probe.h"

#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace fourfold {

namespace {

std::string gib(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", value);
    return text;
}

int minor_version(const std::string& glibc) // "2.36" -> 36; -1 when it is not known
{
    return glibc.starts_with("2.") ? std::atoi(glibc.c_str() + 2) : -1;
}

void add_settings(RunSpec& spec, const Target& target)
{
    spec.limits = target;
    spec.prelude = target.prelude;
    spec.container = target.container;
    spec.interface = target.interface;
    spec.look_first = target.kind == TargetKind::slurm && target.preflight;
    spec.mixed_gpus = target.mixed_gpus;
    spec.group_writable = target.group_writable_folders;
    spec.numa = target.numa;
}

// The values that this program has now.
Json secrets_of(const Target& target)
{
    Json out = Json::object();
    for (const std::string& name : target.secrets) {
        if (const char* value = std::getenv(name.c_str()))
            out[name] = value;
    }
    return out;
}

// Errors refuse the run, warnings are told.
Expected<void> look_before(
    std::vector<Node>& nodes, const LaunchPlan& plan, Mailbox& mailbox, RunObserver& observer, std::stop_token stop)
{
    NodeNeeds needs;
    needs.on_gpus = plan.target.backend == "nccl";
    needs.mixed_gpus = plan.target.mixed_gpus;
    needs.glibc_minor = plan.bundle.glibc_minor;
    needs.container = plan.target.container.has_value();
    FOURFOLD_TRY(const auto findings, preflight(nodes, needs, mailbox, stop, plan.target.connect_timeout_s));
    for (const Finding& finding : findings) {
        if (finding.level == FindingLevel::warning)
            observer.on_state(RunState::preflight, "warning: " + finding.line());
    }
    return check_findings(findings);
}

} // namespace

RunSpec spec_of_node(const Node& at, const LaunchPlan& plan, const std::string& run, int node, const std::string& host)
{
    RunSpec spec;
    spec.run = run;
    spec.node = node;
    spec.nodes = static_cast<int>(plan.ranks.size());
    spec.host = host;
    spec.address = at.data_address();
    spec.world_size = plan.plan.gpus;
    spec.ranks = plan.ranks[static_cast<std::size_t>(node)];
    spec.program = plan.bundle.program;
    spec.files = at.staged.files;
    spec.library_path = plan.bundle.library_path;
    spec.plan = plan.target.kind == TargetKind::local
        ? to_json(plan.bundle.plan, PresetStyle::inlined)
        : plan.bundle.plan_on_node(at.facts.base + "/runs/" + run_folder_name(run, node));
    spec.environment = plan.environment;
    spec.backend = plan.target.backend;
    spec.grace_s = plan.target.stop_grace_s;
    spec.saves = plan.saves();
    add_settings(spec, plan.target);
    Json environment = Json::object();
    for (const auto& [key, value] : plan.environment)
        environment[key] = value;
    spec.start_facts = {{"plan_hash", plan_hash(plan.plan)}, {"environment", std::move(environment)}};
    return spec;
}

Expected<void> check_system(const Node& node, const LaunchPlan& plan)
{
    const auto refuse = [&](std::string message, std::string hint) -> Problem {
        return {ProblemCode::failed, std::move(message), std::move(hint), node.name};
    };
    utsname here{};
    uname(&here);
    if (node.facts.arch != here.machine)
        return refuse("the node is " + node.facts.arch + ", this computer's trainer is " + here.machine,
            "launch from a computer of the node's kind");
    const int glibc = minor_version(node.facts.glibc);
    if (glibc >= 0 && plan.bundle.glibc_minor > glibc && !plan.target.container)
        return refuse("the node has glibc " + node.facts.glibc + ", the trainer needs 2."
                + std::to_string(plan.bundle.glibc_minor),
            "set the target's `container` to an image with a newer one, or build the trainer on an older system");
    return {};
}

Expected<void> check_node(const Node& node, const LaunchPlan& plan)
{
    FOURFOLD_CHECK(check_system(node, plan));
    FOURFOLD_CHECK(node.check_interface());
    const auto refuse = [&](std::string message, std::string hint) -> Problem {
        return {ProblemCode::failed, std::move(message), std::move(hint), node.name};
    };
    const std::size_t ranks = plan.ranks[static_cast<std::size_t>(node.index)].size();
    const bool on_gpus = plan.target.backend == "nccl";
    if (on_gpus && node.facts.gpus.size() < ranks)
        return refuse(
            "the node has " + std::to_string(node.facts.gpus.size()) + " GPUs for " + std::to_string(ranks) + " ranks",
            "give the host fewer ranks, or set the target's backend to gloo to train on the CPU");
    if (!on_gpus && plan.prediction.memory_gib) {
        const double need = *plan.prediction.memory_gib * static_cast<double>(ranks);
        if (node.facts.memory_gib > 0 && need > node.facts.memory_gib)
            return refuse("its " + std::to_string(ranks) + " ranks need about " + gib(need) + ", the node has "
                    + gib(node.facts.memory_gib),
                "use more hosts, or a smaller micro batch or model");
    }
    return {};
}

Expected<std::optional<StopOrder>> start_nodes(std::vector<Node>& nodes, const LaunchPlan& plan, const std::string& run,
    Mailbox& mailbox, RunObserver& observer, std::stop_token stop, const EnterState& enter)
{
    FOURFOLD_CHECK(enter(RunState::preflight,
        "connecting to " + std::to_string(nodes.size()) + (nodes.size() == 1 ? " host" : " hosts")));
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        FOURFOLD_CHECK(node.connect(phase));
        return check_node(node, plan);
    }));

    if (plan.target.preflight)
        FOURFOLD_CHECK(look_before(nodes, plan, mailbox, observer, stop));
    FOURFOLD_CHECK(enter(RunState::staging, "bringing the files that the hosts lack"));
    FOURFOLD_CHECK(stage_nodes(nodes, plan.bundle,
        {plan.target.reuse_files, plan.target.upload, plan.target.preflight && plan.target.kind == TargetKind::ssh,
            plan.target.reconnect_s},
        mailbox, observer, stop));
    uint64_t sent = 0, reused = 0;
    Json hosts = Json::array();
    for (const Node& node : nodes) {
        sent += node.staged.sent_bytes;
        reused += node.staged.reused_bytes;
        Json facts = node.facts.document;
        facts["name"] = node.name;
        hosts.push_back(std::move(facts));
    }
    FOURFOLD_CHECK(enter(RunState::launching,
        "sent " + std::to_string(sent) + " bytes"
            + (reused > 0 && plan.target.kind == TargetKind::ssh
                    ? ", " + std::to_string(reused) + " bytes are the hosts' own files"
                    : "")
            + "; preparing " + std::to_string(plan.plan.gpus) + " ranks"));
    const auto prepared = on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        RunSpec spec = spec_of_node(node, plan, run, node.index, node.name);
        spec.start_facts["hosts"] = hosts;
        FOURFOLD_TRY(node.prepared, node.agent->prepare(spec, phase));
        return {};
    });
    if (!prepared) {
        // Where it was prepared it must not look as if it might still start; a lost session says so by itself.
        for (Node& node : nodes) {
            if (node.agent && !node.prepared.folder.empty())
                (void)node.agent->stop(run, node.index, RunState::cancelled, "another host was not ready", nullptr, 0);
        }
        return prepared.error();
    }
    const std::string address = nodes.front().data_address();
    const int port = nodes.front().prepared.port;
    const std::string token = random_token(kTokenBytes);
    const Json secrets = secrets_of(plan.target);
    std::mutex mutex;
    std::optional<Problem> first;
    // From here on ranks may run: a stop request is carried out by following the run, not by giving up on it.
    (void)on_all_nodes(nodes, mailbox, {}, [&](Node& node, std::stop_token) -> Expected<void> {
        node.started = true;
        if (const auto started = node.agent->start(run, node.index, address, port, token, secrets); !started) {
            const std::lock_guard lock(mutex);
            // A link that broke says nothing about the ranks: following the run will tell.
            if (!first && started.error().code != ProblemCode::network)
                first = started.error();
            node.agent.reset();
        }
        return {};
    });
    if (!first)
        return std::optional<StopOrder>{};
    return std::optional<StopOrder>(StopOrder{RunState::fail, first->line(), nullptr});
}

} // namespace fourfold
