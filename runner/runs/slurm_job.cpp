// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/slurm_job.h"

#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/nodes/reconnect.h"
#include "runner/nodes/stage_nodes.h"
#include "runner/runs/slurm_script.h"

#include <thread>

namespace fourfold {

using namespace std::chrono_literals;

Expected<void> start_slurm_job(std::vector<Node>& nodes, const LaunchPlan& plan, const std::string& run,
    Mailbox& mailbox, RunObserver& observer, std::stop_token stop, const EnterState& enter)
{
    FOURFOLD_CHECK(enter(RunState::preflight, "connecting to " + nodes.front().name));
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        FOURFOLD_CHECK(node.connect(phase));
        return check_system(node, plan);
    }));
    FOURFOLD_CHECK(enter(RunState::staging, "bringing the files that the cluster's file system lacks"));
    // Files of the login host's own disk are not there on the nodes: nothing is used in place.
    FOURFOLD_CHECK(
        stage_nodes(nodes, plan.bundle, {false, "parallel", false, plan.target.reconnect_s}, mailbox, observer, stop));
    std::string job;
    FOURFOLD_CHECK(
        enter(RunState::launching, "sent " + std::to_string(nodes.front().staged.sent_bytes) + " bytes; submitting"));
    if (stop.stop_requested())
        return Problem{ProblemCode::cancelled, "stopped on request", {}, {}};
    // From here on a job may be queued: a stop request is carried out by following it.
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, {}, [&](Node& node, std::stop_token) -> Expected<void> {
        std::vector<RunSpec> specs;
        for (std::size_t k = 0; k < plan.ranks.size(); ++k)
            specs.push_back(spec_of_node(node, plan, run, static_cast<int>(k), "Slurm node " + std::to_string(k)));
        FOURFOLD_TRY(job,
            node.agent->submit(specs, random_token(kTokenBytes),
                slurm_script(plan.target, run, static_cast<int>(plan.ranks.size()), plan.saves())));
        return {};
    }));
    (void)enter(RunState::launching, "Slurm job " + job + " is submitted"); // it is queued, whatever is stored here
    return {};
}

namespace {

constexpr std::chrono::milliseconds kFirstWait = 1s;

Expected<AgentClient::Attempts> attempts_on(Node& login, const std::string& run, const std::stop_token& stop)
{
    if (!login.agent)
        FOURFOLD_CHECK(login.connect(stop));
    auto found = login.agent->attempts(run);
    if (!found)
        login.agent.reset();
    return found;
}

} // namespace

Expected<std::optional<int>> next_attempt(
    Node& login, const std::string& run, int last, RunObserver& observer, std::stop_token stop)
{
    std::string said;
    int over = 0;
    Reconnect tries;
    std::chrono::milliseconds wait = kFirstWait;
    for (; !stop.stop_requested(); std::this_thread::sleep_for(wait)) {
        const auto found = attempts_on(login, run, stop);
        if (!found) {
            const auto again = tries.wait_after(found.error());
            if (!again)
                return found.error();
            if (tries.is_news(found.error()))
                observer.on_state(RunState::launching, found.error().line());
            wait = std::min(*again, kFirstWait);
            continue;
        }
        tries.reached();
        wait = kFirstWait;
        if (found->last > last)
            return std::optional<int>(last + 1);
        const std::string text = "waits for its next attempt: "
            + (found->answered ? found->state + (found->reason.empty() ? "" : " (" + found->reason + ")")
                               : "Slurm does not answer");
        if (text != said)
            observer.on_state(RunState::launching, said = text);
        // Requeued jobs wait as PENDING; in between they may show as COMPLETING or PREEMPTED.
        const bool waits = !found->answered || found->state.starts_with("PENDING")
            || found->state.starts_with("RUNNING") || found->state.starts_with("CONFIGURING")
            || found->state.starts_with("REQUEUE");
        over = waits ? 0 : over + 1;
        if (over > 20)
            return std::optional<int>{};
    }
    return Problem{ProblemCode::cancelled, "stopped while it waited for its next attempt", {}, run};
}

} // namespace fourfold
