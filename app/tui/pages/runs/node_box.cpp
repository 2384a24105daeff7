// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/node_box.h"

#include "core/base/text.h"
#include "runner/preflight/cluster_figures.h"

#include <utility>

namespace fourfold::tui {

namespace {

using Save = std::function<void(const view::ClusterWish&)>;

std::string said(const ProbeReport& report)
{
    return printable_lines(probe_text(report))
        + (report.hosts.empty() ? "" : "\ns measures the speeds of these nodes and saves them as a cluster\n");
}

// Which preset they are like, then the measurement.
void ask_like(Desk& desk, const std::string& id, bool needed, const Save& save)
{
    std::vector<Picker::Item> items;
    if (!needed)
        items.push_back({"Nothing: the cores as measured", "", [save, id] { save({id, {}}); }});
    for (const std::string& like : desk.presets().ids("clusters")) {
        const auto preset = desk.presets().cluster(like);
        items.push_back({preset ? preset->name : like, like, [save, id, like] { save({id, like}); }});
    }
    desk.open(std::make_unique<Picker>("GPUs and the links between them as in", std::move(items)));
}

} // namespace

NodeBox::NodeBox(Desk& desk, const ProbeReport& report, Save save)
    : desk_(desk)
    , report_(report)
    , save_(std::move(save))
    , text_("Nodes", said(report))
{
}

void NodeBox::ask()
{
    close([&desk = desk_, save = save_, id = view::proposed_cluster_id(report_), needed = view::needs_like(report_)] {
        auto prompt = std::make_unique<Prompt>(
            "Save the nodes as a cluster", id, [&desk, save, needed](const std::string& text) {
                const std::string id(trimmed(text));
                const Expected<void> sound = check_cluster_id(id);
                if (sound)
                    ask_like(desk, id, needed, save);
                return sound ? std::string() : sound.error().line();
            });
        prompt->explain(
            "Its id, for plans to name. The speeds of cores, memory and links are measured first: the nodes "
            "are busy for up to a minute.");
        desk.open(std::move(prompt));
    });
}

void NodeBox::key(const Key& key)
{
    if (key.is('s') && !report_.hosts.empty()) {
        ask();
        return;
    }
    text_.key(key);
    if (text_.is_over())
        close();
}

std::string NodeBox::read_out()
{
    return text_.read_out() + "An empty line closes this\n";
}

void NodeBox::answer(const std::string& line)
{
    key(trimmed(line) == "s" ? Key{Key::character, U's'} : Key{Key::escape});
}

} // namespace fourfold::tui
