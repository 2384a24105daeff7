// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/nodes/stage_nodes.h"

#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/nodes/kept_link.h"

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

// What the threads of all nodes share.
class Staging {
public:
    Staging(std::vector<Node>& nodes, const Bundle& bundle, const StagePlan& plan, Mailbox& mailbox,
        RunObserver& observer, std::stop_token stop)
        : nodes_(nodes)
        , bundle_(bundle)
        , plan_(plan)
        , mailbox_(mailbox)
        , observer_(observer)
        , stop_(std::move(stop))
    {
    }

    Expected<void> run()
    {
        FOURFOLD_CHECK(on_each([&](Node& node, KeptLink&, const std::stop_token& stop) -> Expected<void> {
            FOURFOLD_CHECK(take(node, stop));
            return check_room(node.stock, node.facts.disk_free_gib, node.name);
        }));
        const Chain chain = common_files(nodes_, bundle_);
        if (chain.nodes.size() > 1
            && (plan_.upload == "chain"
                || (plan_.upload == "auto" && plan_.reachable && chain.bytes >= kWorthAChain))) {
            FOURFOLD_CHECK(on_each([&](Node& node, KeptLink& link, const std::stop_token& stop) -> Expected<void> {
                return &node == chain.nodes.front() ? send_along(chain, link, stop) : Expected<void>();
            }));
            FOURFOLD_CHECK(
                on_each([&](Node& node, KeptLink&, const std::stop_token& stop) { return take(node, stop); }));
        }
        FOURFOLD_CHECK(on_each([&](Node& node, KeptLink& link, const std::stop_token& stop) {
            return stage(*node.agent, bundle_, node.stock, pieces_, stop, reports(node.name, link), node.staged);
        }));
        // While the last node still got its files, the links of the others may have been cut.
        return on_each([](Node& node, KeptLink&, const std::stop_token&) { return node.agent->check_link(); });
    }

private:
    // On all nodes at once, again where a cut came between.
    Expected<void> on_each(const std::function<Expected<void>(Node&, KeptLink&, const std::stop_token&)>& work)
    {
        return on_all_nodes(nodes_, mailbox_, stop_, [&](Node& node, const std::stop_token& phase) -> Expected<void> {
            KeptLink link(node, plan_.reconnect_s, mailbox_, observer_);
            return link.run(phase, [&] { return work(node, link, phase); });
        });
    }

    Expected<void> take(Node& node, const std::stop_token& stop)
    {
        FOURFOLD_TRY(node.stock, take_stock(*node.agent, bundle_, plan_.reuse, stop));
        return {};
    }

    // On the thread of the chain's first node.
    Expected<void> send_along(const Chain& chain, KeptLink& link, const std::stop_token& stop)
    {
        Node& first = *chain.nodes.front();
        if (const auto linked = link_up(chain); !linked) {
            if (first.agent->link_lost())
                return linked;
            note("no chain from host to host (" + linked.error().line() + "): sends to each");
            return {};
        }
        return send_files(*first.agent, bundle_, chain.files, {pieces_, true}, stop,
            reports("chain of " + std::to_string(chain.nodes.size()) + " hosts", link), first.staged.sent_bytes);
    }

    void note(std::string text)
    {
        mailbox_.post([&observer = observer_, text = std::move(text)] { observer.on_state(RunState::staging, text); });
    }

    StageReports reports(const std::string& who, KeptLink& link)
    {
        return {[this, who](uint64_t done, uint64_t total, const std::string& file) {
                    const double fraction = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
                    mailbox_.post([&observer = observer_, fraction, text = who + ": " + file] {
                        observer.on_staging(fraction, text);
                    });
                },
            [this, who](const std::string& text) { note(who + ": " + text); }, [&link] { link.advanced(); }};
    }

    std::vector<Node>& nodes_;
    const Bundle& bundle_;
    const StagePlan& plan_;
    Mailbox& mailbox_;
    RunObserver& observer_;
    std::stop_token stop_;
    PieceSource pieces_;
};

} // namespace

Expected<void> stage_nodes(std::vector<Node>& nodes, const Bundle& bundle, const StagePlan& plan, Mailbox& mailbox,
    RunObserver& observer, const std::stop_token& stop)
{
    return Staging(nodes, bundle, plan, mailbox, observer, stop).run();
}

} // namespace fourfold
