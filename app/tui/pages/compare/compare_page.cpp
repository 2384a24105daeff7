// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_page.h"

#include "app/tui/linear/spoken.h"
#include "app/view/answer.h"
#include "app/view/command_line.h"
#include "app/view/compare/comparison.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr int kEntryColumns = 34, kBarsFrom = 20; // rows above which there is room for bars
constexpr const char* kNoneHasAnAnswer = "No plan that has an answer";
constexpr const char* kTwoAreNeeded = "Two timelines are needed: `a` adds another";
} // namespace

ComparePage::ComparePage(Desk& desk)
    : Page(desk)
    , list_(desk)
    , sets_(
          desk,
          [this] {
              view::KeptComparison kept = comparison();
              kept.left_out.clear();
              kept.plans = list_.files_of_plans(false);
              return kept;
          },
          [this](const view::KeptComparison& kept) { show(kept); })
    , questions_(desk, list_, sets_)
    , table_view_({}, 2)
    , sweep_(desk)
    , scaling_(desk)
    , views_(
          desk, view::kComparedTable, [this] { return as_view(); },
          [this](const view::SavedView& kept) {
              differences_only_ = kept.differences_only;
              return Expected<void>();
          })
{
    sweep_.compare = [this](const ResolvedPlan& plan) { list_.add(plan); };
}

// What is compared differs from time to time: its columns are no part of a view here.
view::SavedView ComparePage::as_view() const
{
    view::SavedView view;
    view.differences_only = differences_only_;
    return view;
}

view::KeptComparison ComparePage::comparison() const
{
    view::KeptComparison kept = list_.kept();
    kept.series = scaling_.origins();
    kept.differences_only = differences_only_;
    return kept;
}

void ComparePage::show(const view::KeptComparison& kept)
{
    differences_only_ = kept.differences_only;
    list_.show(kept);
    scaling_.show(kept.series);
    desk_.forget_message();
}

Json ComparePage::state() const
{
    Json state = list_.state();
    state.update({{"differences_only", differences_only_}, {"shown", static_cast<int>(shown_)}, {"bars", bars_.state()},
        {"series", scaling_.state()}, {"sets", sets_.state()}});
    return state;
}

void ComparePage::restore(const Json& state)
{
    sets_.restore(state.value("sets", Json()));
    differences_only_ = state.contains("differences_only") && state["differences_only"] == true;
    shown_ = static_cast<Shown>(std::clamp(member_or(state, "shown", 0), 0, static_cast<int>(Shown::scaling)));
    bars_.restore(member_or(state, "bars", 0));
    scaling_.restore(state.value("series", Json()));
    list_.restore(state);
}

void ComparePage::tick()
{
    list_.forget_closed();
    if (desk_.page() == PageId::compare && shown_ == Shown::sweep)
        sweep_.tick();
    if (desk_.page() == PageId::compare && shown_ == Shown::scaling)
        scaling_.tick(compared());
}

std::vector<ScalingChart::Compared> ComparePage::compared() const
{
    std::vector<ScalingChart::Compared> compared;
    for (const CompareEntry& entry : list_.all())
        compared.push_back({entry.name, entry.prediction, entry.tps_per_gpu(), entry.table});
    return compared;
}

Table ComparePage::side_by_side(const CompareEntries& all) const
{
    return view::side_by_side(compared_table(all), differences_only_, list_.reference(all));
}

std::string ComparePage::head(const CompareEntries& all) const
{
    return "Others against " + all[list_.reference(all)].name + (differences_only_ ? "; differences only" : "");
}

std::string ComparePage::hints() const
{
    switch (shown_) {
    case Shown::timelines:
        return "v table  [ ] other timeline  arrows bar  + - zoom  H L pan  0 all  Space mark  M measure  f reference";
    case Shown::sweep:
        return "m table  Enter to plan  C compare  h l GPUs  b figure  t measured table  e export";
    case Shown::scaling:
        return "s table  t measured table  x remove  e export";
    case Shown::table:
        break;
    }
    return "a add  f reference  v timelines  m sweep  s scaling  b bars  x remove  d differences  e export";
}

std::vector<std::string> ComparePage::lines()
{
    if (shown_ == Shown::sweep)
        return sweep_.lines();
    if (shown_ == Shown::scaling)
        return scaling_.lines();
    const CompareEntries all = list_.all();
    if (all.empty())
        return {kNoneHasAnAnswer};
    std::vector<std::string> lines{all.size() == 1
            ? desk_.keyed("Only this plan; `a` adds stored runs, other plans, published rows; a search adds layouts "
                          "with `C`")
            : head(all)};
    if (shown_ == Shown::timelines) {
        const std::string words = timelines_.said(compared_timelines(all), list_.reference(all));
        lines.push_back(words.empty() ? desk_.keyed(kTwoAreNeeded) : words);
        if (!timelines_.remark().empty())
            lines.push_back(timelines_.remark());
        return lines;
    }
    speak_rows(lines, side_by_side(all), -1, 200);
    return lines;
}

void ComparePage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    const Rect inside{place.row, place.column + 1, place.rows, place.columns - 2};
    if (shown_ == Shown::sweep) {
        sweep_.draw(canvas, inside);
        return;
    }
    if (shown_ == Shown::scaling) {
        scaling_.draw(canvas, inside, look);
        return;
    }
    const CompareEntries all = list_.all();
    if (all.empty()) {
        canvas.text(inside.row + 1, inside.column, kNoneHasAnAnswer, kMuted);
        return;
    }
    canvas.text_in(inside.row, inside.column, inside.columns,
        all.size() == 1
            ? desk_.keyed("`a` adds stored runs, other plans, published rows; a search adds layouts with `C`")
            : head(all),
        kMuted);
    const Rect body{inside.row + 1, inside.column, inside.rows - 1, inside.columns};
    if (shown_ == Shown::table) {
        draw_table(canvas, body, all, look);
        return;
    }
    const std::vector<NamedTimeline> timelines = compared_timelines(all);
    if (timelines.size() < 2)
        canvas.text_in(body.row, body.column, body.columns, desk_.keyed(kTwoAreNeeded), kMuted);
    else
        timelines_.draw(canvas, body, timelines, list_.reference(all), look);
}

void ComparePage::draw_table(Canvas& canvas, const Rect& place, const CompareEntries& all, const Look& look)
{
    const Table side = side_by_side(all);
    std::vector<TableView::Column> heads;
    for (const Column& column : side.columns)
        heads.push_back({fitted_in_middle(column.title.empty() ? column.key : column.title, kEntryColumns),
            heads.size() > 1, kEntryColumns});
    table_view_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(side.rows.size());
    content.text = [&](int row, int column) {
        return shown(side.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)],
            side.columns[static_cast<std::size_t>(column)]);
    };
    const int bold = static_cast<int>(list_.reference(all)) + 2;
    content.style = [bold](int, int column) { return column == bold ? kBold : Style{}; };
    const bool has_bars = all.size() > 1 && place.rows >= kBarsFrom;
    const BarChart chart = has_bars ? bars_.chart(all) : BarChart();
    const int rows = has_bars ? CompareBars::rows_of(chart) : 0;
    table_view_.draw(canvas, {place.row, place.column, place.rows - rows, place.columns}, content);
    if (has_bars)
        bars_.draw(canvas, {place.row + place.rows - rows, place.column, rows, place.columns}, chart, look);
}

bool ComparePage::key(const Key& key)
{
    const auto turn = [this](Shown to) { shown_ = shown_ == to ? Shown::table : to; };
    if (key.is('X')) {
        desk_.exports().ask_for_report([this] { return report(); });
    } else if (key.is('T')) {
        if (shown_ == Shown::scaling)
            desk_.exports().show_table("Scaling", scaling_.table());
        else
            desk_.exports().show_table("Comparison", compared_table(list_.all()));
    } else if (key.is('v')) {
        turn(Shown::timelines);
    } else if (key.is('m')) {
        turn(Shown::sweep);
    } else if (key.is('s')) {
        turn(Shown::scaling);
    } else if (shown_ == Shown::sweep && sweep_.key(key)) {
        return true;
    } else if (shown_ == Shown::scaling && scaling_.key(key)) {
        return true;
    } else if (shown_ == Shown::timelines && timelines_.key(key, compared_timelines(list_.all()).size())) {
        return true;
    } else if (key.is('a')) {
        questions_.ask_to_add();
    } else if (key.is('x') || key.code == Key::erase) {
        questions_.ask_to_remove();
    } else if (key.is('f')) {
        questions_.ask_reference();
    } else if (key.is('W')) {
        show_warnings();
    } else if (key.is('V')) {
        views_.ask();
    } else if (key.is('d')) {
        differences_only_ = !differences_only_;
    } else if (key.is('b')) {
        bars_.next_figure();
    } else if (key.is('e')) {
        ask_to_export();
    } else {
        return table_view_.key(key, 100);
    }
    return true;
}

void ComparePage::ask_to_export()
{
    if (shown_ == Shown::timelines)
        ask_to_export_timeline();
    else
        desk_.exports().ask(
            "comparison", [this] { return compared_table(list_.all()); },
            Picture([this] { return Chart(bars_.chart(list_.all())); }));
}

void ComparePage::ask_to_export_timeline()
{
    const CompareEntries compared = list_.all();
    const std::vector<NamedTimeline> timelines = compared_timelines(compared);
    std::vector<NamedTimeline> shown;
    for (const std::size_t at : timelines_.on_show(timelines.size(), list_.reference(compared))) {
        if (at < timelines.size())
            shown.push_back(timelines[at]);
    }
    std::vector<Picker::Item> items;
    for (const NamedTimeline& one : shown)
        items.push_back({one.name, "", [this, one] {
                             desk_.exports().ask("timeline",
                                 [one] {
                                     return spans_table({*one.timeline, one.steady});
                                 },
                                 {{*one.timeline, one.steady}, one.name});
                         }});
    if (shown.size() > 1)
        items.push_back({"Both in one picture", "on one axis",
            [this, shown] { desk_.exports().ask("timelines", {}, both_timelines(shown)); }});
    if (!items.empty())
        desk_.open(std::make_unique<Picker>("Export which timeline", std::move(items)));
}

void ComparePage::show_warnings()
{
    std::string text;
    for (const CompareEntry& entry : list_.all())
        text += "# " + entry.name + "\n"
            + (entry.prediction->warnings.empty() ? "none\n"
                                                  : view::warning_lines(entry.prediction->warnings).substr(1) + "\n")
            + "\n";
    desk_.open(std::make_unique<Pager>("Warnings", text.empty() ? "Nothing is compared" : text));
}

std::vector<Copy> ComparePage::copies()
{
    if (shown_ == Shown::sweep)
        return {{"The map of layouts", [this] { return sweep_.copied(); }}};
    if (shown_ == Shown::scaling)
        return {{"The scaling", [this] { return spreadsheet_rows(scaling_.table()); }}};
    if (shown_ == Shown::timelines)
        return {{"The difference of the timelines", [this] {
                     const CompareEntries compared = list_.all();
                     return timelines_.said(compared_timelines(compared), list_.reference(compared));
                 }}};
    std::vector<Copy> copies{
        {"The table as it is on show", [this] { return spreadsheet_rows(side_by_side(list_.all())); }},
        {"The table, a row an entry", [this] { return spreadsheet_rows(compared_table(list_.all())); }}};
    if (const std::vector<std::string> words = compare_words(list_.all()); !words.empty())
        copies.push_back({"The command that compares them", [words] { return view::command_line(words); }});
    return copies;
}

// The table and the charts; of two timelines both, of a sweep its map.
ReportPage ComparePage::report()
{
    ReportPage page;
    const CompareEntries all = list_.all();
    if (shown_ == Shown::sweep) {
        const TileChart map = sweep_.picture();
        page = {map.title, {map.note}, {{Chart(map), 900}}};
    } else if (shown_ == Shown::scaling) {
        const PlotChart scaling = scaling_.picture();
        page = {scaling.title, {}, {{Chart(scaling), 480}}};
    } else if (shown_ == Shown::timelines && !all.empty()) {
        page.title = "Two timelines";
        const std::vector<NamedTimeline> timelines = compared_timelines(all);
        const std::size_t reference = list_.reference(all);
        page.lines.push_back(timelines_.said(timelines, reference));
        ReportTimelines both;
        for (const std::size_t at : timelines_.on_show(timelines.size(), reference))
            both.push_back({timelines[at].timeline, timelines[at].name, timelines[at].steady});
        page.parts.push_back({std::move(both), 640});
    } else if (!all.empty()) {
        page = report_of_table(all);
    }
    page.lines.push_back(view::report_day());
    return page;
}

ReportPage ComparePage::report_of_table(const CompareEntries& all) const
{
    ReportPage page;
    page.title = "Comparison of " + view::counted(double(all.size()), "entry", "entries");
    page.lines.push_back("Differences against " + all[list_.reference(all)].name);
    for (const CompareEntry& entry : all) {
        for (const std::string& warning : entry.prediction->warnings)
            page.lines.push_back("Warning for " + entry.name + ": " + warning);
    }
    page.parts.push_back({side_by_side(all)});
    for (std::size_t i = 0; i < view::kComparedFigures; ++i) {
        BarChart chart = CompareBars::chart(all, static_cast<view::ComparedFigure>(i));
        const double height = 75 + 30 * double(chart.rows.size());
        page.parts.push_back({Chart(std::move(chart)), height, true});
    }
    return page;
}

std::vector<Command> ComparePage::commands()
{
    const auto press = [this](char32_t letter) { return [this, letter] { key({Key::character, letter}); }; };
    return {{"Add to the comparison", "a", press('a')}, {"Remove from the comparison", "x", press('x')},
        {"Choose the reference", "f", press('f')}, {"Differences only", "d", press('d')},
        {"Warnings of what is compared", "W", press('W')}, {"Views of the table, kept by a name", "V", press('V')},
        {"Another figure as bars", "b", press('b')}, {"Timelines over each other, or the table", "v", press('v')},
        {"Layouts x GPUs around the plan, or the table", "m", press('m')},
        {"Scaling over GPUs, or the table", "s", press('s')}, {"Export the comparison", "e", press('e')},
        {"Export the report as PDF", "X", press('X')}, {"Show the picture as a table", "T", press('T')}};
}

} // namespace fourfold::tui
