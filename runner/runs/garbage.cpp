// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/garbage.h"

#include "core/base/paths.h"
#include "runner/nodes/node.h"

#include <mutex>

namespace fourfold {

Expected<Json> clear_target(const Target& target, const ClearOrder& order, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& agent)
{
    Mailbox mailbox;
    std::vector<Node> nodes
        = make_nodes(target, agent.empty() ? own_program("fourfold-agent") : agent, mailbox, observer);
    std::vector<Json> results(nodes.size());
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        const auto clear = [&]() -> Expected<Json> {
            FOURFOLD_CHECK(node.connect(phase));
            return node.agent->clear(order.older_than_s, order.dry_run, order.end_processes);
        };
        auto counts = clear();
        Json& result = results[static_cast<std::size_t>(node.index)];
        result = counts ? *std::move(counts) : Json{{"problem", counts.error().line()}};
        result["host"] = node.name;
        return {};
    }));
    return Json(results);
}

} // namespace fourfold
