// SPDX-License-Identifier: GPL-3.0-or-later
// Where a run goes: targets, a cluster behind a name, a look at the nodes and what is saved of it.
#include "app/tui/cluster_form.h"
#include "app/tui/pages/runs/node_box.h"
#include "app/tui/pages/runs/runs_page.h"
#include "app/view/plan/edits.h"
#include "core/base/text.h"
#include "runner/preflight/cluster_figures.h"

#include <utility>

namespace fourfold::tui {

void RunsPage::ask_target()
{
    std::vector<Picker::Item> items{{"this computer", "local", [this] { target_ = "local"; }}};
    for (const std::string& id : desk_.presets().ids("targets")) {
        if (id != "local")
            items.push_back({id, "target", [this, id] { target_ = id; }});
    }
    items.push_back({"Find a cluster...", "a host, an SSH alias, a login of Slurm", [this] { find_cluster(); }});
    items.push_back({"Hosts...", "user@host1,host2", [this] {
                         auto prompt = std::make_unique<Prompt>("Hosts", "", [this](const std::string& text) {
                             const Expected<Target> target = load_target(std::string(trimmed(text)));
                             if (target)
                                 target_ = trimmed(text);
                             return target ? std::string() : target.error().line();
                         });
                         prompt->explain("user@host1,host2:2222,node[01-16], or the file of a target");
                         desk_.open(std::move(prompt));
                     }});
    desk_.open(std::make_unique<Picker>("Run on", std::move(items)));
}

void RunsPage::find_cluster()
{
    desk_.open(std::make_unique<ClusterForm>(desk_, [this](const std::string& target) { target_ = target; }));
}

void RunsPage::check_nodes()
{
    const Expected<Target> target = load_target(target_);
    if (!target) {
        desk_.tell(target.error().line(), view::Tone::bad);
    } else if (!job_.is_running()) {
        desk_.tell("Looking at the nodes...");
        checked_ = *target;
        wish_.reset();
        job_.check(*target);
    }
}

// Once more, with the speeds: the first look does not keep the nodes busy.
void RunsPage::save_nodes(const view::ClusterWish& wish)
{
    if (job_.is_running() || !checked_)
        return;
    desk_.tell("Measuring the nodes, up to a minute...");
    wish_ = wish;
    job_.check(*checked_, true);
}

void RunsPage::show_report(const Expected<ProbeReport>& report)
{
    desk_.forget_message(); // that it looks at them
    const std::optional<view::ClusterWish> wish = std::exchange(wish_, {});
    if (!report)
        desk_.tell(report.error().line(), view::Tone::bad);
    else if (wish)
        save_looked_at(*report, *wish);
    else
        desk_.open(
            std::make_unique<NodeBox>(desk_, *report, [this](const view::ClusterWish& wanted) { save_nodes(wanted); }));
}

void RunsPage::save_looked_at(const ProbeReport& report, const view::ClusterWish& wish)
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
