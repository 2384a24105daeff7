// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/nodes/node.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "runner/local/local_transport.h"
#include "runner/protocol/interfaces.h"
#include "runner/ssh/ssh_transport.h"

#include <future>
#include <mutex>
#include <set>
#include <thread>

namespace fourfold {

using namespace std::chrono_literals;

Expected<void> Node::connect(std::stop_token stop)
{
    agent.reset();
    FOURFOLD_TRY(auto stream, transport->open(stop));
    auto client = std::make_unique<AgentClient>(std::move(stream), name);
    FOURFOLD_TRY(facts, client->hello(base_folder, group_writable));
    agent = std::move(client);
    return {};
}

std::string Node::data_address() const
{
    if (!host.node_address.empty())
        return host.node_address;
    if (const std::string address = address_of_interface(facts.interfaces, interface); !address.empty())
        return address;
    return facts.address.empty() ? "127.0.0.1" : facts.address;
}

Expected<void> Node::check_interface() const
{
    if (!host.node_address.empty() || !names_interface(interface)
        || !address_of_interface(facts.interfaces, interface).empty())
        return {};
    return Problem{ProblemCode::failed,
        "the node has no network interface " + in_quotes(interface) + " with an address",
        "it has " + interfaces_text(facts.interfaces) + ": change the target's interface, or set it up there", name};
}

std::vector<std::string> names_of(const std::vector<Node>& nodes)
{
    std::vector<std::string> out;
    for (const Node& node : nodes)
        out.push_back(node.name);
    return out;
}

void assign_ranks(std::vector<Node>& nodes, const Target& target, const std::vector<std::vector<RankPlace>>& ranks)
{
    const bool slurm = target.kind == TargetKind::slurm;
    for (std::size_t k = 0; k < ranks.size() && !nodes.empty(); ++k) {
        if (!slurm && k >= nodes.size())
            return;
        Node& node = nodes[slurm ? 0 : k];
        for (const RankPlace& place : ranks[k]) {
            node.ranks.push_back(place.rank);
            if (slurm)
                node.rank_nodes.push_back(static_cast<int>(k));
        }
    }
}

std::vector<Node> make_nodes(
    const Target& target, const std::filesystem::path& agent, Mailbox& mailbox, RunObserver& observer)
{
    std::vector<Node> nodes;
    // Slurm is reached through one host, whose file system the nodes share.
    const bool slurm = target.kind == TargetKind::slurm;
    const bool here = target.kind == TargetKind::local || (slurm && !target.slurm->login);
    const std::vector<TargetHost> hosts
        = !slurm ? target.hosts : std::vector<TargetHost>{target.slurm->login.value_or(TargetHost{})};
    const auto noted = std::make_shared<std::set<std::string>>();
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        Node node;
        node.index = static_cast<int>(i);
        node.host = hosts[i];
        node.name = !slurm ? host_name(target, i) : here ? "this computer" : place_name(node.host);
        node.base_folder = target.base_folder;
        node.group_writable = target.group_writable_folders;
        if (!slurm) // which nodes a job gets is not known yet
            node.interface = target.interface;
        if (here) {
            if (node.base_folder.empty() && !slurm)
                node.base_folder = (data_folder() / "node").string();
            node.transport = std::make_unique<LocalTransport>(agent);
        } else {
            SshOptions options;
            options.name = node.name;
            options.host = node.host;
            options.base_folder = target.base_folder;
            options.group_writable = target.group_writable_folders;
            options.connect_timeout_s = target.connect_timeout_s;
            options.agent = agent;
            options.prompts.trust_host_key = [&mailbox, &observer](const HostKeyQuestion& question) {
                const auto answer = std::make_shared<std::promise<bool>>();
                mailbox.post([&observer, question, answer] { answer->set_value(observer.trust_host_key(question)); });
                return answer->get_future().get();
            };
            options.prompts.secret = [&mailbox, &observer](const SecretQuestion& question) {
                const auto answer = std::make_shared<std::promise<std::optional<std::string>>>();
                mailbox.post([&observer, question, answer] { answer->set_value(observer.secret(question)); });
                return answer->get_future().get();
            };
            options.prompts.right
                = [&mailbox, &observer] { mailbox.post([&observer] { observer.on_right_answer(); }); };
            // On the observer's thread: what holds for many hosts is said of the first.
            options.prompts.note = [&mailbox, &observer, noted](const std::string& name, const std::string& text) {
                mailbox.post([&observer, noted, name, text] {
                    if (noted->insert(text).second)
                        observer.on_state(RunState::preflight, name + ": " + text);
                });
            };
            options.progress = [&mailbox, &observer, name = node.name](double fraction) {
                mailbox.post([&observer, name, fraction] { observer.on_staging(fraction, name + ": fourfold-agent"); });
            };
            node.transport = std::make_unique<SshTransport>(std::move(options));
        }
        nodes.push_back(std::move(node));
    }
    return nodes;
}

Expected<void> on_all_nodes(std::vector<Node>& nodes, Mailbox& mailbox, std::stop_token stop,
    const std::function<Expected<void>(Node&, std::stop_token)>& work)
{
    std::stop_source phase;
    const std::stop_callback forward(stop, [&phase] { phase.request_stop(); });
    std::mutex mutex;
    std::optional<Problem> first;
    std::size_t left = nodes.size(); // counted down by the workers' last letters, so that none of them waits for ever
    {
        std::vector<std::jthread> threads;
        for (Node& node : nodes) {
            threads.emplace_back([&] {
                const auto done = work(node, phase.get_token());
                if (!done) {
                    const std::lock_guard lock(mutex);
                    if (!first)
                        first = done.error();
                    phase.request_stop();
                }
                mailbox.post([&left] { --left; });
            });
        }
        while (left > 0) {
            if (const auto letter = mailbox.take(20ms))
                (*letter)();
        }
    }
    if (stop.stop_requested())
        return Problem{ProblemCode::cancelled, "stopped on request", {}, {}};
    if (first)
        return *first;
    return {};
}

} // namespace fourfold
