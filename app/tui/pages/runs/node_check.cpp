// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/node_check.h"

#include "app/tui/pages/runs/node_box.h"
#include "app/view/plan/edits.h"
#include "runner/preflight/cluster_figures.h"

#include <utility>

namespace fourfold::tui {

void NodeCheck::look(const std::string& name)
{
    const Expected<Target> target = load_target(name);
    if (!target) {
        desk_.tell(target.error().line(), view::Tone::bad);
    } else if (!job_.is_running()) {
        desk_.tell("Looking at the nodes...");
        target_ = *target;
        wish_.reset();
        job_.check(*target);
    }
}

// Once more, with the speeds: the first look does not keep the nodes busy.
void NodeCheck::measure(const view::ClusterWish& wish)
{
    if (job_.is_running() || !target_)
        return;
    desk_.tell("Measuring the nodes, up to a minute...");
    wish_ = wish;
    job_.check(*target_, true);
}

void NodeCheck::show(const Expected<ProbeReport>& report)
{
    desk_.forget_message(); // that it looks at them
    const std::optional<view::ClusterWish> wish = std::exchange(wish_, {});
    if (!report)
        desk_.tell(report.error().line(), view::Tone::bad);
    else if (wish)
        save(*report, *wish);
    else
        desk_.open(
            std::make_unique<NodeBox>(desk_, *report, [this](const view::ClusterWish& wanted) { measure(wanted); }));
}

void NodeCheck::save(const ProbeReport& report, const view::ClusterWish& wish)
{
    const Expected<std::filesystem::path> file = save_cluster(report, wish.id, wish.like);
    if (!file) {
        desk_.tell("The cluster was not saved: " + file.error().line(), view::Tone::bad);
        return;
    }
    desk_.confirm("Cluster", "The nodes are saved as cluster " + wish.id + " in " + file->string() + ".", "plan on it",
        [this, id = wish.id] {
            desk_.apply("Cluster " + id, view::with_value(desk_.plan().state().plan(), "cluster", id));
        });
}

} // namespace fourfold::tui
