// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/history_page.h"

#include "app/tui/linear/spoken.h"
#include "app/tui/pages/compare/compare_page.h"
#include "app/tui/pages/history/recalibrate_box.h"
#include "app/tui/pages/history/run_columns.h"
#include "app/tui/pages/history/run_plan.h"
#include "app/tui/pages/history/runs_points.h"
#include "app/view/command_line.h"
#include "app/view/history/history_access.h"
#include "app/view/history/run_facts.h"
#include "app/view/runs/live_run.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"
#include "core/calibration/user/most_off.h"

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
    , choice_(run_columns())
    , views_(
          desk, view::kRunsTable, [this] { return as_view(); }, [this](const auto& kept) { return show_view(kept); })
    , traces_(desk.wake())
    , changes_(desk, [this] { read(); })
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

std::string HistoryPage::said() const
{
    if (!problem_.empty())
        return problem_;
    if (list_.all().empty())
        return desk_.keyed("No run is stored yet: 4 starts one, `I` takes a published table or exported runs");
    const auto marked = std::count_if(list_.visible().begin(), list_.visible().end(),
        [this](std::size_t at) { return marked_.contains(list_.all()[at].id); });
    return view::grouped(double(list_.visible().size())) + " of " + view::counted(double(list_.all().size()), "run")
        + (marked == 0 ? "" : ", " + view::grouped(double(marked)) + " marked")
        + (filter_.empty() ? "" : "; " + filter_);
}

std::vector<std::string> HistoryPage::lines()
{
    if (shows_curves_)
        return curves_.lines();
    std::vector<std::string> lines{said()};
    const Table table = list_.table();
    speak_rows(lines, table);
    for (std::size_t row = 0; row < std::min(table.rows.size(), lines.size() - 1); ++row) {
        if (marked_.contains(list_.run(row).id) && lines[row + 1].starts_with("Row "))
            lines[row + 1] += ", marked";
    }
    if (const RunSummary* run = chosen())
        lines.push_back("Chosen: " + run->name + ", " + run->id + (marked_.contains(run->id) ? ", marked" : "")
            + (run->problem.empty() ? "" : ": " + run->problem) + (run->note.empty() ? "" : "; " + run->note)
            + "; enter tells all of it");
    return lines;
}

void HistoryPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    if (shows_curves_) {
        curves_.draw(canvas, {place.row, place.column + 1, place.rows, place.columns - 2}, look);
        return;
    }
    // A problem is read to its end, also where it begins with a long path.
    const std::vector<std::string> head
        = problem_.empty() ? std::vector<std::string>{said()} : wrapped(problem_, place.columns - 2);
    const int told = std::min(static_cast<int>(head.size()), place.rows / 2);
    for (int row = 0; row < told; ++row)
        canvas.text_in(place.row + row, place.column + 1, place.columns - 2, head[static_cast<std::size_t>(row)],
            problem_.empty() ? kMuted : style_of(view::Tone::bad));
    const bool has_points = !list_.visible().empty();
    const bool high = place.rows >= 26;
    picture_.place = {};
    if (picture_.focused && has_points && !high) { // there is room for one of the two
        table_.hide();
        picture_.place = draw_plot(canvas, {place.row + told, place.column + 1, place.rows - told, place.columns - 2},
            runs_scatter(list_, chosen()), look);
        return;
    }
    const int plot = high && has_points ? std::clamp(place.rows / 3, 8, 16) : 0;
    draw_table(canvas, {place.row + told, place.column + 1, place.rows - 1 - told - plot, place.columns - 2});
    if (const RunSummary* run = chosen())
        canvas.text_in(place.row + place.rows - plot - 1, place.column + 1, place.columns - 2,
            printable(run->id + (run->problem.empty() ? "" : ": " + run->problem)
                + (run->note.empty() ? "" : "; " + run->note)),
            kMuted);
    if (plot > 0)
        picture_.place = draw_plot(canvas, {place.row + place.rows - plot, place.column + 1, plot, place.columns - 2},
            runs_scatter(list_, chosen()), look);
}

void HistoryPage::draw_table(Canvas& canvas, const Rect& place)
{
    const std::vector<int> columns = choice_.columns();
    std::vector<TableView::Column> heads;
    for (const int column : columns)
        heads.push_back({run_title(column), RunsList::is_number(column), 26, column == RunsList::name});
    table_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(list_.visible().size());
    content.sorted = static_cast<int>(std::ranges::find(columns, list_.sort_column()) - columns.begin());
    content.falling = list_.is_falling();
    content.focused = !picture_.focused;
    content.text = [&](int row, int column) {
        return RunsList::text(list_.run(static_cast<std::size_t>(row)), columns[static_cast<std::size_t>(column)]);
    };
    content.style = [&](int row, int column) {
        const RunSummary& run = list_.run(static_cast<std::size_t>(row));
        return columns[static_cast<std::size_t>(column)] == RunsList::state ? style_of(view::state_tone(run.state))
                                                                            : Style{};
    };
    content.marked = [this](int row) { return marked_.contains(list_.run(static_cast<std::size_t>(row)).id); };
    table_.draw(canvas, place, content);
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
    else if ((key.is('t') || key.is('n')) && chosen() != nullptr)
        changes_.ask_to_edit(*chosen(), key.is('t'));
    else if (key.is('e'))
        desk_.exports().ask(
            "runs", [this] { return list_.table(); },
            Picture([this] { return Chart(runs_scatter(list_, chosen()).chart); }));
    else if (key.code == Key::f5)
        read();
    else if (key.is('u'))
        changes_.undo();
    else if (key.is_ctrl('r'))
        changes_.redo();
    else if (key.is('D') || key.code == Key::erase)
        changes_.ask_to_hide(meant());
    else if (const int head = table_.heading_at(key); head >= 0)
        sort_by(choice_.columns()[static_cast<std::size_t>(head)]);
    else if (const auto took = picture_.key(
                 key, [this] { return runs_points(list_); }, table_.list.selected);
             took == PointPicker::Took::opens)
        open_facts();
    else if (took == PointPicker::Took::no)
        return table_.key(key, static_cast<int>(list_.visible().size()));
    return true;
}

void HistoryPage::sort_by(int column)
{
    list_.sort(column, column == list_.sort_column() ? !list_.is_falling() : column >= RunsList::gpus);
}

// What the chosen point is.
std::string HistoryPage::remark() const
{
    if (shows_curves_)
        return curves_.chosen_place();
    const RunSummary* const run = chosen();
    if (!picture_.focused || run == nullptr)
        return {};
    if (!run->measured_tps_per_gpu || !run->predicted_tps_per_gpu)
        return run->name + ": nothing was measured of it, or predicted";
    return run->name + ", " + run->layout + ": measured " + view::throughput_text(*run->measured_tps_per_gpu)
        + ", predicted " + view::throughput_text(*run->predicted_tps_per_gpu) + " TPS/GPU ("
        + view::signed_percent(*run->predicted_tps_per_gpu / *run->measured_tps_per_gpu - 1) + ")";
}

std::vector<Copy> HistoryPage::copies()
{
    const std::vector<RunSummary> runs = meant();
    if (runs.empty())
        return {};
    std::vector<std::string> words{"history", runs.size() == 1 ? "show" : "compare"};
    for (const RunSummary& run : runs)
        words.push_back(run.id);
    return {{"The id of the chosen run", [id = runs.front().id] { return id; }},
        {"The table", [this] { return spreadsheet_rows(list_.table()); }},
        {runs.size() == 1 ? "The command that shows the run" : "The command that compares the marked runs",
            [words] { return view::command_line(words); }}};
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
    if (!run)
        desk_.tell(run.error().line(), view::Tone::bad);
    else
        ask_about_run_plan(desk_, runs_, *run, [this](const RunDetail& traced) { open_trace(traced); });
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
