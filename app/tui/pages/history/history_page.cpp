// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/history_page.h"

#include "app/tui/pages/compare/compare_page.h"
#include "app/tui/pages/history/recalibrate_box.h"
#include "app/tui/pages/runs/runs_page.h"
#include "app/view/history/history_access.h"
#include "app/view/history/run_facts.h"
#include "app/view/runs/live_run.h"
#include "app/view/runs/run_again.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"
#include "core/calibration/user/most_off.h"
#include "core/predict/term_off.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

using view::RunsList;

HistoryPage::HistoryPage(Desk& desk, ComparePage& compare, RunsPage& runs)
    : Page(desk)
    , compare_(compare)
    , runs_(runs)
    , table_({}, 1)
    , import_(
          desk, [this](const std::string& run) { show_imported(run); },
          [this](const std::filesystem::path& path) { open_tracker(path); })
    , curves_(desk)
    , choice_(first_columns())
    , views_(
          desk, view::kRunsTable, [this] { return as_view(); }, [this](const auto& kept) { return show_view(kept); })
    , traces_(desk.wake())
{
    desk.run_event = [this](const std::string& run, const Json& event) { curves_.take(run, event); };
}

view::SavedView HistoryPage::as_view() const
{
    view::SavedView view = choice_.saved(list_.sort_column(), list_.is_falling());
    view.filter = filter_;
    return view;
}

Expected<void> HistoryPage::show_view(const view::SavedView& kept)
{
    FOURFOLD_CHECK(list_.set_filter(kept.filter));
    filter_ = kept.filter;
    choice_.show(kept);
    if (const std::optional<int> sorted = choice_.column_of(kept.sorted))
        list_.sort(*sorted, kept.falling);
    return {};
}

void HistoryPage::tick()
{
    import_.tick();
    curves_.tick(is_following());
    traces_.deliver();
    if (recalibration_)
        recalibration_->deliver();
    if (desk_.page() != PageId::history)
        fresh_ = false;
    else if (!fresh_)
        read();
}

void HistoryPage::read()
{
    fresh_ = true;
    Expected<std::vector<RunSummary>> runs = view::stored_runs({});
    problem_ = runs ? "" : runs.error().line();
    if (!runs)
        return;
    const bool due = std::ranges::any_of(*runs, &RunSummary::most_off_due);
    list_.show(*std::move(runs));
    if (due && !traces_.is_running())
        compare_traces();
    if (!list_.set_filter(filter_)) // of the fields that are there now
        filter_.clear();
    std::erase_if(marked_, [this](const std::string& id) {
        return std::ranges::none_of(list_.all(), [&id](const RunSummary& run) { return run.id == id; });
    });
    if (!kept_.empty())
        choose(std::exchange(kept_, ""));
    if (shows_curves_)
        curves_.show(meant());
}

// What nobody could say when the events came in: a prediction for each trace takes a while, so the list is there first.
void HistoryPage::compare_traces()
{
    traces_.start([this](const std::stop_token& stop) -> view::Background::Done {
        const Expected<int> compared = fourfold::compare_traces(view::history_file_or({}), stop);
        return [this, changed = compared && *compared > 0] {
            if (changed)
                read();
        };
    });
}

void HistoryPage::show_curves()
{
    shows_curves_ = !meant().empty() || curves_.has_trackers();
    if (shows_curves_)
        curves_.show(meant());
}

void HistoryPage::open_tracker(const std::filesystem::path& path)
{
    const Expected<std::size_t> opened = curves_.open_tracker(path);
    if (!opened) {
        desk_.tell(opened.error().line(), view::Tone::bad);
        return;
    }
    show_curves();
    desk_.tell(view::counted(double(*opened), "run") + " of " + path.string() + " among the curves");
}

void HistoryPage::open_trace(const RunDetail& run)
{
    Expected<view::RunTrace> traced = view::trace_of_run(run);
    if (!traced)
        desk_.tell(traced.error().line(), view::Tone::bad);
    else if (show_trace)
        show_trace(std::move(traced->trace), std::move(traced->beside));
}

// The new run is chosen; a filter that leaves it out goes.
void HistoryPage::show_imported(const std::string& run)
{
    read();
    if (run.empty() || choose(run))
        return;
    filter_.clear();
    static_cast<void>(list_.set_filter(filter_));
    choose(run);
}

bool HistoryPage::choose(const std::string& id)
{
    for (std::size_t row = 0; row < list_.visible().size(); ++row) {
        if (list_.run(row).id != id)
            continue;
        table_.list.selected = static_cast<int>(row);
        return true;
    }
    return false;
}

std::vector<RunSummary> HistoryPage::meant() const
{
    std::vector<RunSummary> runs;
    for (const std::size_t at : list_.visible()) {
        if (marked_.contains(list_.all()[at].id))
            runs.push_back(list_.all()[at]);
    }
    if (const RunSummary* run = chosen(); runs.empty() && run != nullptr)
        runs.push_back(*run);
    return runs;
}

const RunSummary* HistoryPage::chosen() const
{
    const auto row = static_cast<std::size_t>(table_.list.selected);
    return row < list_.visible().size() ? &list_.run(row) : nullptr;
}

bool HistoryPage::key(const Key& key)
{
    if (!fresh_)
        read(); // keys that were typed ahead mean the runs, too
    const auto sort_by = [this](int step) {
        const std::vector<int> columns = choice_.columns();
        const auto count = static_cast<int>(columns.size());
        const auto now = static_cast<int>(std::ranges::find(columns, list_.sort_column()) - columns.begin());
        const int at = columns[static_cast<std::size_t>(((now + step) % count + count) % count)];
        list_.sort(at, at >= RunsList::gpus);
    };
    if (shows_curves_) {
        if (key.is('v') || (key.code == Key::escape && !curves_.shows_part()))
            shows_curves_ = false;
        else
            return curves_.key(key);
        return true;
    }
    if (key.is('/'))
        ask_filter();
    else if (key.is('v'))
        show_curves();
    else if (key.is('V'))
        views_.ask();
    else if (key.is('<') || key.is('>'))
        sort_by(key.is('>') ? 1 : -1);
    else if (key.is('r'))
        list_.sort(list_.sort_column(), !list_.is_falling());
    else if (key.code == Key::enter || table_.is_on_chosen(key))
        open_facts();
    else if (key.code == Key::tab || key.code == Key::back_tab)
        picture_.focused = !picture_.focused && !list_.visible().empty();
    else if (key.is('C') || key.is('c'))
        compare();
    else if (key.is(' ') && chosen() != nullptr) {
        if (!marked_.insert(chosen()->id).second)
            marked_.erase(chosen()->id);
        table_.key({Key::down}, static_cast<int>(list_.visible().size()));
    } else if (key.code == Key::escape && !marked_.empty())
        marked_.clear();
    else if (key.is('I'))
        import_.ask();
    else if (key.is('K'))
        recalibrate();
    else if (key.is('P'))
        ask_about_plan();
    else if (key.is('t') || key.is('n'))
        edit(key.is('t'));
    else if (key.is('e'))
        desk_.exports().ask(
            "runs", [this] { return list_.table(); }, Picture([this] { return Chart(scatter().chart); }));
    else if (key.code == Key::f5)
        read();
    else if (key.is('u'))
        undo();
    else if (key.is_ctrl('r'))
        redo();
    else if (key.is('D') || key.code == Key::erase)
        ask_to_hide();
    else if (const int head = table_.heading_at(key); head >= 0)
        sort_by(choice_.columns()[static_cast<std::size_t>(head)]);
    else if (const auto took = picture_.key(
                 key, [this] { return points(); }, table_.list.selected);
             took == PointPicker::Took::opens)
        open_facts();
    else if (took == PointPicker::Took::no)
        return table_.key(key, static_cast<int>(list_.visible().size()));
    return true;
}

void HistoryPage::make(view::HistoryStep step)
{
    if (!desk_.succeeded(step.redo()))
        return;
    desk_.tell(step.text + desk_.keyed("; `u` takes it back"), view::Tone::good);
    done_.push_back(std::move(step));
    undone_.clear();
    read();
}

void HistoryPage::undo()
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
    read();
}

void HistoryPage::redo()
{
    if (undone_.empty() || !desk_.succeeded(undone_.back().redo()))
        return;
    desk_.tell("Done again: " + undone_.back().text);
    done_.push_back(std::move(undone_.back()));
    undone_.pop_back();
    read();
}

void HistoryPage::ask_filter()
{
    auto prompt = std::make_unique<Prompt>("Show only", filter_, [this](const std::string& text) {
        const std::string filter(trimmed(text));
        const Expected<void> outcome = list_.set_filter(filter);
        if (outcome)
            filter_ = filter;
        return outcome ? std::string() : outcome.error().line();
    });
    prompt->explain("Words, or figures: abs(error) > 0.1 and gpus >= 8");
    prompt->complete([this](const std::string& text, std::size_t cursor) -> Prompt::Offer {
        const Completions found = complete_expression(text, cursor, list_.fields());
        return {found.begin, found.words};
    });
    desk_.open(std::move(prompt));
}

void HistoryPage::edit(bool tags)
{
    const RunSummary* run = chosen();
    if (run == nullptr)
        return;
    desk_.open(std::make_unique<Prompt>(tags ? "Tags, separated by commas" : "Note",
        tags ? view::tag_text(run->tags) : run->note, [this, run = *run, tags](const std::string& text) {
            make(tags ? view::change_tags({}, run, view::tags_of(text)) : view::change_note({}, run, text));
            return std::string();
        }));
}

void HistoryPage::open_facts()
{
    const RunSummary* run = chosen();
    if (run == nullptr)
        return;
    const Expected<RunDetail> detail = view::stored_run({}, run->id);
    if (!detail)
        desk_.tell(detail.error().line(), view::Tone::bad);
    else
        desk_.open(std::make_unique<Pager>(run->name, view::run_facts_text(*detail)));
}

void HistoryPage::compare()
{
    bool is_there = false;
    for (const RunSummary& run : meant()) {
        const Expected<RunDetail> detail = view::stored_run({}, run.id);
        if (!detail) {
            desk_.tell(detail.error().line(), view::Tone::bad);
            return;
        }
        compare_.list().add(*detail);
        is_there = true;
    }
    if (is_there)
        desk_.go(PageId::compare);
}

void HistoryPage::ask_about_plan()
{
    if (chosen() == nullptr)
        return;
    const Expected<RunDetail> run = view::stored_run({}, chosen()->id);
    if (!run) {
        desk_.tell(run.error().line(), view::Tone::bad);
        return;
    }
    // `runs`: on the target where it ran; the start is the person's to give.
    const auto open = [this, run = *run](bool from_checkpoint, bool runs) {
        Expected<Plan> plan = from_checkpoint ? view::plan_from_checkpoint(run) : view::plan_of_run(run);
        if (!plan) {
            desk_.tell(plan.error().line(), view::Tone::bad);
            return;
        }
        desk_.tabs().unused().reset(*std::move(plan));
        desk_.plan().mark_unsaved();
        desk_.go(runs ? PageId::runs : PageId::plan);
        if (runs)
            runs_.set_target(run.summary.target);
        desk_.tell(
            runs ? "The plan of " + run.summary.id + desk_.keyed("; `s` starts it") : "The plan of " + run.summary.id);
    };
    std::vector<Picker::Item> items{{"Open it", "in a tab of its own", [open] { open(false, false); }},
        {"Run it again", "where it ran", [open] { open(false, true); }}};
    if (view::has_checkpoint(*run))
        items.push_back({"Go on from its newest checkpoint", "where it ran", [open] { open(true, true); }});
    if (measured_step(run->other_events))
        items.push_back({"Its traced step", "beside the planned one", [this, run = *run] { open_trace(run); }});
    desk_.open(std::make_unique<Picker>("The plan of " + run->summary.name, std::move(items)));
}

void HistoryPage::ask_to_hide()
{
    const std::vector<RunSummary> runs = meant();
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

void HistoryPage::recalibrate()
{
    const std::vector<RunSummary> runs = meant();
    if (runs.empty())
        return;
    if (recalibration_ && recalibration_->is_running()) {
        desk_.tell("The last fit is still under way", view::Tone::warning);
        return;
    }
    recalibration_
        = std::make_shared<view::Recalibration>(desk_.presets(), std::filesystem::path(), runs, desk_.wake());
    desk_.open(std::make_unique<RecalibrateBox>(desk_, recalibration_));
}

std::vector<Command> HistoryPage::commands()
{
    const auto press = [this](char32_t letter) { return [this, letter] { key({Key::character, letter}); }; };
    if (shows_curves_) {
        std::vector<Command> commands{{"Back to the runs", "v", press('v')}};
        for (Command& command : curves_.commands())
            commands.push_back(std::move(command));
        return commands;
    }
    return {{"Facts of the run", "Enter", [this] { open_facts(); }}, {"Filter the runs", "/", press('/')},
        {"Mark the run: what follows is done to all marked ones", "Space", press(' ')},
        {"Lay the curves of the marked runs over each other", "v", press('v')},
        {"Compare the run, or the marked ones", "C", press('C')},
        {"Fit a stack's constants to the marked runs", "K", press('K')},
        {"The plan of the run: open it, run it again, go on from its checkpoint; its traced step", "P", press('P')},
        {"Import runs and measured tables, open curves of TensorBoard or W&B", "I", press('I')},
        {"Tags", "t", press('t')}, {"Note", "n", press('n')}, {"Delete the run, or the marked ones", "D", press('D')},
        {"Go to the picture, or back to the table", "Tab", [this] { key({Key::tab}); }},
        {"Sort by another column", "< >", press('>')}, {"Turn the order round", "r", press('r')},
        {"Take back the last change of the history", "u", press('u')}, {"Export the runs on show", "e", press('e')},
        {"Read the history again", "F5", [this] { read(); }}, {"Views of the table, kept by a name", "V", press('V')},
        {"Choose the columns", "", [this] { choice_.ask(desk_); }}};
}

void HistoryPage::restore(const Json& state)
{
    curves_.restore(state.value("curves", Json::object()));
    kept_ = member_or(state, "chosen", std::string());
    if (!state.contains("view"))
        return;
    view::SavedView kept = view::saved_view_from_json(state["view"]);
    const std::string filter = std::exchange(kept.filter, {});
    static_cast<void>(show_view(kept));
    filter_ = filter; // of the runs that read() finds
}

} // namespace fourfold::tui
