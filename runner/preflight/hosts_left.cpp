// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/hosts_left.h"

#include "core/base/pause.h"
#include "core/base/text.h"
#include "runner/nodes/node.h"
#include "runner/preflight/compare_nodes.h"
#include "runner/preflight/contact.h"
#include "runner/preflight/network.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>

namespace fourfold {

using namespace std::chrono_literals;

namespace {

constexpr int kNetworkRounds = 4; // as before a run
constexpr double kTimeToEnd = 10; // of ranks that were killed
constexpr auto kBetweenLooks = 100ms;

std::string words_of(const Finding& finding)
{
    return printable(
        finding.check + ": " + finding.message + (finding.evidence.empty() ? "" : " (" + finding.evidence + ")"));
}

// The first that no run can work with, of those about this host.
const Finding* first_error(const std::vector<Finding>& findings, const std::string& host)
{
    const auto found = std::find_if(findings.begin(), findings.end(),
        [&](const Finding& finding) { return finding.level == FindingLevel::error && finding.host == host; });
    return found == findings.end() ? nullptr : &*found;
}

bool works(const Link& link)
{
    return link.state == "ok" && link.largest_message >= link.largest_asked;
}

class Look {
public:
    Look(const HostsQuestion& question, RunObserver& observer, const std::stop_token& stop)
        : question_(question)
        , stop_(stop)
        , nodes_(make_nodes(question.target, question.agent, mailbox_, observer))
        , probed_(nodes_.size())
        , why_(nodes_.size())
    {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            at_.push_back(i);
            names_.push_back(nodes_[i].name);
        }
    }

    Expected<HostsLeft> run()
    {
        FOURFOLD_CHECK(each([this](Node& node, std::stop_token phase) { return look_at(node, phase); }));
        leave_out_the_lost();
        if (question_.target.preflight) {
            compare();
            FOURFOLD_CHECK(look_at_the_network());
        }
        HostsLeft out;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            out.hosts.push_back({at_[i], nodes_[i].facts.memory_gib});
        for (std::size_t host = 0; host < why_.size(); ++host) {
            if (!why_[host].empty())
                out.lost.push_back({host, names_[host], why_[host]});
        }
        return out;
    }

private:
    // What is wrong with a host stops none of the others.
    template <typename Work>
    Expected<void> each(const Work& work)
    {
        return on_all_nodes(nodes_, mailbox_, stop_, [&](Node& node, std::stop_token phase) -> Expected<void> {
            if (const std::string why = work(node, phase); !why.empty()) {
                const std::lock_guard lock(mutex_);
                why_[at_[static_cast<std::size_t>(node.index)]] = why;
            }
            return {};
        });
    }

    // Why the host cannot be used; empty: it can, as far as it is known by itself.
    std::string look_at(Node& node, const std::stop_token& phase)
    {
        if (const auto connected = node.connect(phase); !connected)
            return words_of(contact_finding(node.name, connected.error()));
        const std::size_t host = at_[static_cast<std::size_t>(node.index)];
        for (const EarlierRun& run : question_.earlier) {
            for (std::size_t i = 0; i < run.hosts.size(); ++i) {
                if (run.hosts[i] != host)
                    continue;
                if (std::string why = end_ranks(node, run.id, static_cast<int>(i), phase); !why.empty())
                    return why;
            }
        }
        if (!question_.target.preflight)
            return {};
        if (const auto there = node.check_interface(); !there)
            return "interface: " + there.error().message;
        const auto answer = node.agent->probe(question_.ranks[host], question_.on_gpus, false);
        if (!answer)
            return words_of(contact_finding(node.name, answer.error()));
        const std::vector<Finding> findings = findings_from_agent(array_field(*answer, "findings"), node.name);
        if (const Finding* error = first_error(findings, node.name))
            return words_of(*error);
        const std::lock_guard lock(mutex_);
        probed_[host] = {node.name, node.facts, {}};
        return {};
    }

    // Ranks of a run that could not be reached any more wait for peers which are gone; they would be in the way.
    std::string end_ranks(const Node& node, const std::string& run, int share, const std::stop_token& phase) const
    {
        const auto deadline = std::chrono::steady_clock::now()
            + std::chrono::duration<double>(question_.target.stop_grace_s + kTimeToEnd);
        for (bool asked = false;;) {
            const auto status = node.agent->status(run, share);
            if (!status)
                return node.agent->link_lost() ? words_of(contact_finding(node.name, status.error())) : std::string();
            const auto left = integer_field(*status, "processes");
            if (left == 0)
                return {};
            if (!asked)
                (void)node.agent->stop(
                    run, share, RunState::lost, "the run goes on in a new one", nullptr, question_.target.stop_grace_s);
            asked = true;
            if (phase.stop_requested() || std::chrono::steady_clock::now() > deadline)
                return "ranks: " + std::to_string(left) + (left == 1 ? " process" : " processes") + " of run " + run
                    + " cannot be ended";
            pause_until_stopped(phase, kBetweenLooks);
        }
    }

    // The places in nodes_ of further ones are those of what is left.
    void leave_out_the_lost()
    {
        std::vector<std::size_t> left;
        std::vector<Node> nodes;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (!why_[at_[i]].empty())
                continue;
            nodes_[i].index = static_cast<int>(left.size());
            left.push_back(at_[i]);
            nodes.push_back(std::move(nodes_[i]));
        }
        nodes_ = std::move(nodes);
        at_ = std::move(left);
    }

    // What only shows in comparison; of what concerns no host by itself the run's own look before its start will tell.
    void compare()
    {
        NodeNeeds needs;
        needs.on_gpus = question_.on_gpus;
        needs.mixed_gpus = question_.target.mixed_gpus;
        needs.container = question_.target.container.has_value();
        std::vector<ProbedNode> probed;
        for (const std::size_t host : at_)
            probed.push_back(probed_[host]);
        const std::vector<Finding> findings = compare_nodes(probed, needs);
        for (const std::size_t host : at_) {
            if (const Finding* error = first_error(findings, names_[host]))
                why_[host] = words_of(*error);
        }
        leave_out_the_lost();
    }

    Expected<void> look_at_the_network()
    {
        while (nodes_.size() > 1) {
            auto network = look_at_network(
                nodes_, mailbox_, stop_, LookDepth::brief, question_.target.connect_timeout_s, kNetworkRounds);
            if (network) {
                leave_out_the_unreached(std::move(network->links));
                return {};
            }
            if (stop_.stop_requested())
                return network.error();
            const std::size_t before = nodes_.size();
            FOURFOLD_CHECK(each([](Node& node, const std::stop_token&) -> std::string {
                const auto there = node.agent->check_link();
                return there ? std::string() : words_of(contact_finding(node.name, there.error()));
            }));
            leave_out_the_lost();
            if (nodes_.size() == before) // they all answer: the run's own look will tell
                return {};
        }
        return {};
    }

    void leave_out_the_unreached(std::vector<Link> links)
    {
        std::vector<std::string> names, addresses;
        for (const Node& node : nodes_) {
            names.push_back(node.name);
            addresses.push_back(node.data_address());
        }
        std::erase_if(links, works);
        while (!links.empty()) {
            std::vector<std::size_t> misses(nodes_.size());
            for (const Link& link : links) {
                ++misses[static_cast<std::size_t>(link.from)];
                ++misses[static_cast<std::size_t>(link.to)];
            }
            // Of several the last: the first host is where the run's files are.
            const auto most = std::max_element(misses.rbegin(), misses.rend());
            const auto worst = static_cast<int>(misses.rend() - most) - 1;
            std::vector<Link> gone;
            std::copy_if(links.begin(), links.end(), std::back_inserter(gone),
                [&](const Link& link) { return link.from == worst || link.to == worst; });
            std::vector<Finding> findings = judge_links(gone, names, addresses);
            for (Finding& finding : findings)
                finding.message = finding.host + " " + finding.message;
            why_[at_[static_cast<std::size_t>(worst)]]
                = findings.empty() ? std::string("reach: the other hosts are not reached") : words_of(findings.front());
            std::erase_if(links, [&](const Link& link) { return link.from == worst || link.to == worst; });
        }
        leave_out_the_lost();
    }

    const HostsQuestion& question_;
    const std::stop_token& stop_;
    Mailbox mailbox_;
    std::vector<Node> nodes_; // that are left
    std::vector<std::size_t> at_; // their places in the target
    std::vector<std::string> names_; // of all hosts of the target, as the following
    std::vector<ProbedNode> probed_;
    std::vector<std::string> why_; // empty: not lost
    std::mutex mutex_; // of what the nodes' threads write
};

} // namespace

Expected<HostsLeft> hosts_left(const HostsQuestion& question, RunObserver& observer, const std::stop_token& stop)
{
    return Look(question, observer, stop).run();
}

} // namespace fourfold
