// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/stage_nodes.h"

#include "core/base/random_token.h"
#include "runner/net/proof.h"

#include <algorithm>
#include <map>

namespace fourfold {

namespace {

constexpr uint64_t kWorthAChain = 64u << 20; // bytes that several nodes lack

// Files that at least two nodes lack, in the order of the first of those nodes, and the nodes that lack any of them.
struct Chain {
    std::vector<std::string> files;
    std::vector<Node*> nodes;
    uint64_t bytes = 0;
};

Chain common_files(std::vector<Node>& nodes, const Bundle& bundle)
{
    std::map<std::string, int> lacking;
    for (const Node& node : nodes) {
        for (const std::string& sha256 : node.stock.missing)
            ++lacking[sha256];
    }
    Chain chain;
    for (Node& node : nodes) {
        const auto& missing = node.stock.missing;
        if (std::any_of(missing.begin(), missing.end(), [&](const std::string& hash) { return lacking[hash] > 1; }))
            chain.nodes.push_back(&node);
    }
    for (const BundleFile& file : bundle.files) {
        const auto at = lacking.find(file.sha256);
        if (at == lacking.end() || at->second < 2)
            continue;
        chain.files.push_back(file.sha256);
        chain.bytes += file.size;
        lacking.erase(at); // the same content under a second name
    }
    return chain;
}

// Each node but the last hands on to the one after it. From the end, as a node must know where the next one listens.
Expected<void> link_up(const Chain& chain)
{
    Json next = nullptr;
    for (std::size_t i = chain.nodes.size(); i-- > 1;) {
        Node& node = *chain.nodes[i];
        const std::string token = random_token(kTokenBytes);
        FOURFOLD_TRY(const int port, node.agent->relay(node.data_address(), token, next));
        next = {{"address", node.data_address()}, {"port", port}, {"token", token}};
    }
    return chain.nodes.front()->agent->chain(next);
}

StageProgress reporter(Mailbox& mailbox, RunObserver& observer, const std::string& who)
{
    return [&mailbox, &observer, who](uint64_t done, uint64_t total, const std::string& file) {
        const double fraction = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
        mailbox.post([&observer, fraction, text = who + ": " + file] { observer.on_staging(fraction, text); });
    };
}

} // namespace

Expected<void> stage_nodes(std::vector<Node>& nodes, const Bundle& bundle, const StagePlan& plan, Mailbox& mailbox,
    RunObserver& observer, const std::stop_token& stop)
{
    const auto take = [&](Node& node) -> Expected<void> {
        FOURFOLD_TRY(node.stock, take_stock(*node.agent, bundle, plan.reuse));
        return {};
    };
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token) -> Expected<void> {
        FOURFOLD_CHECK(take(node));
        return check_room(node.stock, node.facts.disk_free_gib, node.name);
    }));
    PieceSource pieces;
    const Chain chain = common_files(nodes, bundle);
    uint64_t by_chain = 0;
    if (chain.nodes.size() > 1
        && (plan.upload == "chain" || (plan.upload == "auto" && plan.reachable && chain.bytes >= kWorthAChain))) {
        FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
            if (&node != chain.nodes.front())
                return {};
            if (const auto linked = link_up(chain); !linked) {
                mailbox.post([&observer, text = linked.error().line()] {
                    observer.on_state(RunState::staging, "no chain from host to host (" + text + "): sends to each");
                });
                return {};
            }
            FOURFOLD_TRY(by_chain,
                send_files(*node.agent, bundle, chain.files, {pieces, true}, phase,
                    reporter(mailbox, observer, "chain of " + std::to_string(chain.nodes.size()) + " hosts")));
            return {};
        }));
        FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token) { return take(node); }));
    }
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        FOURFOLD_TRY(
            node.staged, stage(*node.agent, bundle, node.stock, pieces, phase, reporter(mailbox, observer, node.name)));
        return {};
    }));
    if (!chain.nodes.empty())
        chain.nodes.front()->staged.sent_bytes += by_chain;
    return {};
}

} // namespace fourfold
