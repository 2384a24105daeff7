// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/run_texts.h"

#include "app/view/runs/run_folder.h"
#include "core/base/text.h"

#include <utility>

namespace fourfold::tui {

void ask_for_output(Desk& desk, const view::LiveRun& run)
{
    std::vector<Picker::Item> items;
    for (const view::RankLog& log : view::rank_logs(run.folder())) {
        const std::string name = "Rank " + std::to_string(log.rank);
        items.push_back({name, run.rank_name(log.rank), [&desk, log, name] {
                             const std::string text = printable_lines(view::tail_of(log.file));
                             auto pager = std::make_unique<Pager>("Output of " + name, text.empty() ? "Nothing" : text);
                             pager->go_to_end(); // what it said last
                             desk.open(std::move(pager));
                         }});
    }
    if (items.empty())
        desk.tell("No output of a rank is here: it comes when the run ends");
    else
        desk.open(std::make_unique<Picker>("Output of a rank", std::move(items)));
}

void show_log(Desk& desk, const view::LiveRun& run)
{
    std::string text;
    for (const view::LogLine& line : run.log())
        text += text_of("%-9s%-14s", line.time.c_str(), line.kind.c_str()) + line.text + "\n";
    desk.open(std::make_unique<Pager>("Log", text.empty() ? "Nothing was said yet" : text));
}

void show_alerts(Desk& desk, const view::LiveRun& run)
{
    if (run.alerts().empty()) {
        desk.tell("The run's watch reported nothing");
        return;
    }
    std::string text;
    for (const view::RunAlert& alert : run.alerts())
        text += view::alert_line(alert) + "\n";
    desk.open(std::make_unique<Pager>("Alerts", text));
}

void show_failure(Desk& desk, const view::LiveRun& run)
{
    if (run.failure())
        desk.open(std::make_unique<Pager>("Failure", view::failure_text(*run.failure())));
    else
        show_log(desk, run);
}

} // namespace fourfold::tui
