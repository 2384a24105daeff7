// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/history_changes.h"

#include "app/view/history/runs_list.h"

#include <utility>

namespace fourfold::tui {

HistoryChanges::HistoryChanges(Desk& desk, std::function<void()> changed)
    : desk_(desk)
    , changed_(std::move(changed))
{
}

void HistoryChanges::make(view::HistoryStep step)
{
    if (!desk_.succeeded(step.redo()))
        return;
    desk_.tell(step.text + desk_.keyed("; `u` takes it back"), view::Tone::good);
    done_.push_back(std::move(step));
    undone_.clear();
    changed_();
}

void HistoryChanges::undo()
{
    if (done_.empty()) {
        desk_.tell("There is nothing to take back here");
        return;
    }
    if (!desk_.succeeded(done_.back().undo()))
        return;
    desk_.tell("Taken back: " + done_.back().text);
    undone_.push_back(std::move(done_.back()));
    done_.pop_back();
    changed_();
}

void HistoryChanges::redo()
{
    if (undone_.empty() || !desk_.succeeded(undone_.back().redo()))
        return;
    desk_.tell("Done again: " + undone_.back().text);
    done_.push_back(std::move(undone_.back()));
    undone_.pop_back();
    changed_();
}

void HistoryChanges::ask_to_edit(const RunSummary& run, bool tags)
{
    desk_.open(std::make_unique<Prompt>(tags ? "Tags, separated by commas" : "Note",
        tags ? view::tag_text(run.tags) : run.note, [this, run, tags](const std::string& text) {
            make(tags ? view::change_tags({}, run, view::tags_of(text)) : view::change_note({}, run, text));
            return std::string();
        }));
}

void HistoryChanges::ask_to_hide(const std::vector<RunSummary>& runs)
{
    if (runs.empty())
        return;
    std::vector<std::string> ids;
    for (const RunSummary& run : runs)
        ids.push_back(run.id);
    const bool one = runs.size() == 1;
    desk_.confirm("Delete",
        one ? "Hide " + runs.front().name + " (" + runs.front().id + desk_.keyed(")? `u` brings it back.")
            : "Hide the " + std::to_string(runs.size()) + desk_.keyed(" marked runs? `u` brings them back."),
        one ? "hide it" : "hide them", [this, ids] { make(view::delete_runs({}, ids)); });
}

} // namespace fourfold::tui
