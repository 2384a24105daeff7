// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/adopt.h"

#include "core/base/paths.h"
#include "core/calibration/user/evidence.h"
#include "core/history/store.h"
#include "core/plan/presets.h"
#include "runner/nodes/node.h"
#include "runner/protocol/message.h"
#include "runner/runs/run_record.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace fourfold {

namespace {

Problem no_run(const std::string& run, const Target& target, const std::string& message)
{
    return {ProblemCode::not_found, "run \"" + run + "\": " + message,
        "name the hosts that it was launched on, with the same base_folder", "target " + target.id};
}

// What the hosts have of the run: its one id, and for each of its nodes the spec and the host.
struct Found {
    std::string run;
    std::map<int, RunSpec> specs;
    std::map<int, std::size_t> hosts; // node to index of the target's host
};

Expected<Found> look_for(const std::string& run, const Target& target, std::vector<Node>& nodes, Mailbox& mailbox,
    const std::stop_token& stop)
{
    std::vector<AgentClient::FoundRuns> answers(nodes.size());
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        FOURFOLD_CHECK(node.connect(phase));
        FOURFOLD_TRY(answers[static_cast<std::size_t>(node.index)], node.agent->find(run));
        return {};
    }));
    std::set<std::string> ids;
    for (const auto& answer : answers)
        ids.insert(answer.runs.begin(), answer.runs.end());
    if (ids.empty())
        return no_run(run, target, "none of the hosts has such a run");
    if (run == "last")
        ids.erase(ids.begin(), std::prev(ids.end()));
    if (ids.size() > 1)
        return Problem{ProblemCode::bad_input,
            "\"" + run + "\" is the beginning of " + std::to_string(ids.size()) + " runs",
            "the newest is " + *ids.rbegin(), "target " + target.id};
    Found found;
    found.run = *ids.begin();
    for (std::size_t host = 0; host < answers.size(); ++host) {
        const bool shared = answers[host].specs.size() > 1 && nodes.size() > 1;
        for (RunSpec& spec : answers[host].specs) {
            if (spec.run != found.run)
                continue;
            // Where the hosts share the base folder each of them shows all nodes: then the order of the target counts.
            if (!shared || static_cast<std::size_t>(spec.node) == host)
                found.hosts.emplace(spec.node, host);
            found.specs.emplace(spec.node, std::move(spec));
        }
    }
    const int count = found.specs.empty() ? 0 : found.specs.begin()->second.nodes;
    for (int node = 0; node < count; ++node) {
        if (!found.specs.contains(node) || (target.kind != TargetKind::slurm && !found.hosts.contains(node)))
            return no_run(found.run, target,
                "its node " + std::to_string(node) + " of " + std::to_string(count) + " is on none of the hosts");
    }
    if (count == 0)
        return no_run(run, target, "its files on the hosts cannot be read");
    return found;
}

} // namespace

Expected<std::string> adopt(const std::string& run, const Target& target, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, const std::filesystem::path& agent)
{
    FOURFOLD_TRY(
        HistoryStore store, HistoryStore::open(history_file.empty() ? HistoryStore::default_file() : history_file));
    Mailbox mailbox;
    std::vector<Node> nodes
        = make_nodes(target, agent.empty() ? own_program("fourfold-agent") : agent, mailbox, observer);
    FOURFOLD_TRY(const Found found, look_for(run, target, nodes, mailbox, stop));
    const bool known = store.full_id(found.run).has_value();
    std::vector<TargetHost> hosts;
    if (target.kind != TargetKind::slurm) {
        for (const auto& [node, host] : found.hosts)
            hosts.push_back(target.hosts[host]);
    }
    if (known && recorded_target(found.run)) {
        FOURFOLD_CHECK(record_ways(found.run, hosts));
        return found.run;
    }

    const RunSpec& first = found.specs.at(0);
    LaunchPlan plan;
    plan.target = target;
    if (target.kind != TargetKind::slurm)
        plan.target.hosts = std::move(hosts);
    for (const auto& [node, spec] : found.specs)
        plan.ranks.push_back(spec.ranks);
    FOURFOLD_TRY(const Plan written, plan_from_json(first.plan, "plan of run " + found.run));
    FOURFOLD_TRY(plan.plan, resolve(written, Presets()));
    plan.prediction = predict_with_evidence(plan.plan);
    plan.environment = first.environment;
    if (known) { // what leads to its nodes is lost or damaged
        FOURFOLD_CHECK(record_launch(plan, found.run));
        return found.run;
    }
    FOURFOLD_CHECK(record_run(store, plan, found.run));
    FOURFOLD_CHECK(store.set_state(found.run, RunState::running)); // until its end is read
    return found.run;
}

} // namespace fourfold
