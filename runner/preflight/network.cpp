// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/network.h"

#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/protocol/message.h"
#include "runner/protocol/node_rules.h"

#include <algorithm>
#include <mutex>

namespace fourfold {

namespace {

std::optional<double> median_of(const std::vector<Link>& links, double Link::*figure)
{
    std::vector<double> values;
    for (const Link& link : links) {
        if (link.state == "ok" && link.*figure > 0)
            values.push_back(link.*figure);
    }
    if (values.empty())
        return {};
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

Link link_from(const Json& json, int from, int to)
{
    Link link{from, to, text_field(json, "state", "failed"), text_field(json, "error"), text_field(json, "interface"),
        text_field(json, "local_address"), number_field(json, "latency_us"), number_field(json, "bandwidth_gb_s"),
        static_cast<int>(integer_field(json, "mtu")), static_cast<int>(integer_field(json, "largest_message")),
        static_cast<int>(integer_field(json, "largest_asked", 1 << 20))};
    return link;
}

} // namespace

std::vector<Finding> judge_links(
    const std::vector<Link>& links, const std::vector<std::string>& names, const std::vector<std::string>& addresses)
{
    std::vector<Finding> out;
    for (const Link& link : links) {
        const auto from = static_cast<std::size_t>(link.from), to = static_cast<std::size_t>(link.to);
        const std::string way = way_to(names[to], addresses[to]);
        const auto add = [&](FindingLevel level, std::string message, std::string evidence, std::string cure) {
            out.push_back({level, names[from], "reach", std::move(message), std::move(evidence), std::move(cure)});
        };
        if (const auto fault = link_fault(link.state, link.error, names[to], addresses[to]))
            add(FindingLevel::error, fault->message, fault->evidence, fault->cure);
        else if (link.largest_message < link.largest_asked)
            add(FindingLevel::error, way + ": large messages are lost",
                "messages of " + std::to_string(link.largest_message) + " bytes come back, larger ones do not; MTU "
                    + std::to_string(link.mtu),
                "set one MTU on all hosts and switches on the way");
        else if (!addresses[from].empty() && link.local_address != addresses[from])
            add(FindingLevel::warning, way + ": leaves through " + link.interface + " as " + link.local_address,
                "the ranks are told to use " + addresses[from],
                "set node_address to addresses of the network that connects the nodes");
    }
    // TCP gets by with the smaller of two MTUs, InfiniBand over Ethernet does not, and both are slow.
    for (const Link& there : links) {
        for (const Link& back : links) {
            if (there.from < there.to && back.from == there.to && back.to == there.from && there.mtu > 0 && back.mtu > 0
                && there.mtu != back.mtu)
                out.push_back({FindingLevel::warning, names[static_cast<std::size_t>(there.from)], "MTU",
                    "differs from that of " + names[static_cast<std::size_t>(there.to)],
                    std::to_string(there.mtu) + " through " + there.interface + " here, " + std::to_string(back.mtu)
                        + " through " + back.interface + " there",
                    "set one MTU on all hosts and switches on the way"});
        }
    }
    return out;
}

Expected<NetworkLook> look_at_network(std::vector<Node>& nodes, Mailbox& mailbox, std::stop_token stop, LookDepth depth,
    double timeout_s, int most_rounds)
{
    const bool speed = depth == LookDepth::speed;
    NetworkLook look;
    const auto count = static_cast<int>(nodes.size());
    if (count < 2)
        return look;
    const std::string token = random_token(kTokenBytes);
    std::vector<int> ports(nodes.size());
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token) -> Expected<void> {
        FOURFOLD_TRY(ports[static_cast<std::size_t>(node.index)], node.agent->listen(node.data_address(), token));
        return {};
    }));
    std::mutex mutex;
    const auto probe = [&](Node& node, int to, bool with_speed) -> Expected<void> {
        const auto at = static_cast<std::size_t>(to);
        FOURFOLD_TRY(const Json answer,
            node.agent->reach(
                nodes[at].data_address(), ports[at], token, timeout_s, with_speed, depth == LookDepth::brief));
        const std::lock_guard lock(mutex);
        look.links.push_back(link_from(answer, node.index, to));
        return {};
    };
    for (int round = 1; round < count && round <= most_rounds; ++round) {
        FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token) -> Expected<void> {
            if (speed && node.index != 0)
                return {}; // one transfer at a time, or they measure each other
            return probe(node, (node.index + round) % count, speed);
        }));
        for (int from = 1; speed && from < count; ++from)
            FOURFOLD_CHECK(probe(nodes[static_cast<std::size_t>(from)], (from + round) % count, true));
    }
    if (count - 1 > most_rounds) {
        FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token) -> Expected<void> {
            return node.index == 0 ? Expected<void>() : probe(node, 0, false);
        }));
    }
    FOURFOLD_CHECK(
        on_all_nodes(nodes, mailbox, stop, [](Node& node, std::stop_token) { return node.agent->unlisten(); }));
    std::sort(look.links.begin(), look.links.end(),
        [](const Link& a, const Link& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    std::vector<std::string> names, addresses;
    for (const Node& node : nodes) {
        names.push_back(node.name);
        addresses.push_back(node.data_address());
    }
    look.findings = judge_links(look.links, names, addresses);
    look.latency_us = median_of(look.links, &Link::latency_us);
    look.bandwidth_gb_s = median_of(look.links, &Link::bandwidth_gb_s);
    return look;
}

} // namespace fourfold
