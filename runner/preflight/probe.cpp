// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/probe.h"

#include "core/base/paths.h"
#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/preflight/contact.h"
#include "runner/protocol/interfaces.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <sstream>

namespace fourfold {

namespace {

std::vector<Finding> errors_first(std::vector<Finding> findings)
{
    std::stable_sort(findings.begin(), findings.end(),
        [](const Finding& a, const Finding& b) { return static_cast<int>(a.level) > static_cast<int>(b.level); });
    return findings;
}

void append(std::vector<Finding>& to, std::vector<Finding> from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Looks at every connected node itself, all at once.
Expected<void> look_at_nodes(std::vector<Node>& nodes, const NodeNeeds& needs, Mailbox& mailbox, std::stop_token stop,
    bool speed, std::vector<Finding>& findings, std::vector<ProbedNode>& probed, std::vector<Json>& answers,
    const Json& target = Json::object())
{
    std::mutex mutex;
    probed.resize(nodes.size());
    answers.resize(nodes.size());
    return on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token) -> Expected<void> {
        const int ranks = node.ranks.empty() ? needs.ranks_per_node : static_cast<int>(node.ranks.size());
        FOURFOLD_TRY(const Json answer, node.agent->probe(ranks, needs.on_gpus, speed, target));
        FOURFOLD_TRY(const auto clock, node.agent->clock_skew());
        const std::lock_guard lock(mutex);
        append(findings, shell_findings(node.name, node.transport->noise()));
        if (const auto there = node.check_interface(); !there)
            findings.push_back({FindingLevel::error, node.name, "interface", there.error().message,
                interfaces_text(node.facts.interfaces), "change the target's interface, or set it up there"});
        append(findings, findings_from_agent(array_field(answer, "findings"), node.name));
        probed[static_cast<std::size_t>(node.index)] = {node.name, node.facts, clock};
        answers[static_cast<std::size_t>(node.index)] = answer;
        return {};
    });
}

std::string figure(double value, const char* format)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

bool has_slurm(const Json& answer)
{
    return !array_field(object_field(answer, "slurm"), "partitions").empty();
}

// Beside what is known already.
Expected<void> add_speeds(std::vector<Node>& nodes, Mailbox& mailbox, std::stop_token stop, std::vector<Json>& answers)
{
    return on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token) -> Expected<void> {
        FOURFOLD_TRY(const Json answer, node.agent->probe(1, false, true));
        answers[static_cast<std::size_t>(node.index)]["speed"] = object_field(answer, "speed");
        return {};
    });
}

// A node's link to itself stands for the links within it, where its ranks talk through TCP.
Expected<Link> look_at_loopback(Node& node)
{
    const std::string token = random_token(kTokenBytes);
    FOURFOLD_TRY(const int port, node.agent->listen(node.data_address(), token));
    FOURFOLD_TRY(const Json answer, node.agent->reach(node.data_address(), port, token, 5, true));
    FOURFOLD_CHECK(node.agent->unlisten());
    return Link{node.index, node.index, text_field(answer, "state"), {}, text_field(answer, "interface"), {},
        number_field(answer, "latency_us"), number_field(answer, "bandwidth_gb_s"), 0, 0};
}

} // namespace

bool ProbeReport::good() const
{
    return std::none_of(
        findings.begin(), findings.end(), [](const Finding& finding) { return finding.level == FindingLevel::error; });
}

Expected<std::vector<Finding>> preflight(
    std::vector<Node>& nodes, const NodeNeeds& needs, Mailbox& mailbox, std::stop_token stop, double timeout_s)
{
    std::vector<Finding> findings;
    std::vector<ProbedNode> probed;
    std::vector<Json> answers;
    FOURFOLD_CHECK(look_at_nodes(nodes, needs, mailbox, stop, false, findings, probed, answers));
    append(findings, compare_nodes(probed, needs));
    FOURFOLD_TRY(NetworkLook network, look_at_network(nodes, mailbox, stop, LookDepth::brief, timeout_s, 4));
    append(findings, std::move(network.findings));
    return errors_first(std::move(findings));
}

Expected<ProbeReport> probe_target(
    const Target& target, RunObserver& observer, std::stop_token stop, LookFor what, const std::filesystem::path& agent)
{
    ProbeReport report;
    Mailbox mailbox;
    std::vector<Node> nodes
        = make_nodes(target, agent.empty() ? own_program("fourfold-agent") : agent, mailbox, observer);
    std::mutex mutex;
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        if (const auto connected = node.connect(phase); !connected) {
            const std::lock_guard lock(mutex);
            report.findings.push_back(contact_finding(node.name, connected.error()));
        }
        return {};
    }));
    std::erase_if(nodes, [](const Node& node) { return !node.agent; });
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i].index = static_cast<int>(i); // the rest is about those that answer
    NodeNeeds needs;
    needs.mixed_gpus = target.mixed_gpus;
    needs.container = target.container.has_value();
    for (const Node& node : nodes) {
        needs.on_gpus = needs.on_gpus || (target.backend != "gloo" && !node.facts.gpus.empty());
        needs.ranks_per_node
            = std::max({needs.ranks_per_node, node.host.ranks, static_cast<int>(node.facts.gpus.size())});
    }
    std::vector<ProbedNode> probed;
    std::vector<Json> answers;
    Json asked = Json::object();
    if (target.slurm) // its nodes are not known yet, the login host need not have a container's program
        asked["slurm"] = {{"partition", target.slurm->partition}, {"nodes", target.slurm->nodes},
            {"time", target.slurm->time}, {"gres", target.slurm->gres}};
    else if (target.container)
        asked = {{"container", target.container->image}, {"prelude", !target.prelude.empty()}};
    asked["cluster"] = what == LookFor::cluster;
    bool speed = what == LookFor::speeds;
    FOURFOLD_CHECK(look_at_nodes(nodes, needs, mailbox, stop, speed, report.findings, probed, answers, asked));
    if (what == LookFor::cluster && !needs.on_gpus && std::none_of(answers.begin(), answers.end(), has_slurm)) {
        speed = true;
        FOURFOLD_CHECK(add_speeds(nodes, mailbox, stop, answers));
    }
    append(report.findings, compare_nodes(probed, needs));
    FOURFOLD_TRY(report.network,
        look_at_network(nodes, mailbox, stop, speed ? LookDepth::speed : LookDepth::whole, target.connect_timeout_s));
    append(report.findings, report.network.findings);
    if (speed && !nodes.empty()) {
        if (auto own = look_at_loopback(nodes.front()); own && own->state == "ok")
            report.network.links.push_back(*own);
    }
    report.findings = errors_first(std::move(report.findings));
    for (std::size_t i = 0; i < nodes.size(); ++i)
        report.hosts.push_back({nodes[i].name, nodes[i].facts, object_field(answers[i], "speed"),
            object_field(answers[i], "links"), object_field(answers[i], "slurm")});
    return report;
}

Json to_json(const ProbeReport& report)
{
    Json hosts = Json::array(), links = Json::array(), findings = Json::array();
    for (const auto& host : report.hosts)
        hosts.push_back({{"host", host.name}, {"facts", host.facts.document}, {"speed", host.speed}});
    for (const Link& link : report.network.links)
        links.push_back({{"from", report.hosts[static_cast<std::size_t>(link.from)].name},
            {"to", report.hosts[static_cast<std::size_t>(link.to)].name}, {"state", link.state}, {"error", link.error},
            {"interface", link.interface}, {"latency_us", link.latency_us}, {"bandwidth_gb_s", link.bandwidth_gb_s},
            {"mtu", link.mtu}, {"largest_message", link.largest_message}});
    for (const Finding& finding : report.findings)
        findings.push_back(to_json(finding));
    return {{"good", report.good()}, {"hosts", std::move(hosts)}, {"links", std::move(links)},
        {"findings", std::move(findings)}};
}

std::string host_line(const ProbeReport::Host& host)
{
    const NodeFacts& facts = host.facts;
    std::ostringstream out;
    out << host.name << ": " << facts.os << ", glibc " << facts.glibc << ", " << facts.cores << " cores, "
        << figure(facts.memory_gib, "%.1f GiB");
    if (!facts.gpus.empty())
        out << ", " << facts.gpus.size() << " x " << facts.gpus.front().name << ", driver " << facts.driver;
    if (const double bandwidth = number_field(host.speed, "memory_bandwidth_gb_s"); bandwidth > 0)
        out << figure(bandwidth, "; copies %.1f GB/s")
            << figure(number_field(host.speed, "gemm_tflops_fp32"), ", multiplies %.3f TFLOP/s (fp32, all cores)");
    return out.str();
}

std::string probe_text(const ProbeReport& report)
{
    std::ostringstream out;
    for (const auto& host : report.hosts)
        out << host_line(host) << "\n";
    for (const Link& link : report.network.links) {
        const auto& from = report.hosts[static_cast<std::size_t>(link.from)].name;
        out << "  " << from << " -> "
            << (link.from == link.to ? "itself" : report.hosts[static_cast<std::size_t>(link.to)].name) << ": ";
        if (link.state != "ok")
            out << link.state << " (" << link.error << ")";
        else
            out << figure(link.latency_us, "%.0f us")
                << (link.bandwidth_gb_s > 0 ? figure(link.bandwidth_gb_s, ", %.2f GB/s") : std::string())
                << (link.mtu > 0 ? ", MTU " + std::to_string(link.mtu) : "") << ", through " << link.interface;
        out << "\n";
    }
    for (const Finding& finding : report.findings)
        out << name(finding.level) << ": " << finding.line() << "\n";
    out << (report.good() ? "ready for a run\n" : "not ready for a run\n");
    return out.str();
}

} // namespace fourfold
