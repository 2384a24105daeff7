// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_page.h"

#include "app/tui/linear/spoken.h"
#include "app/view/answer.h"
#include "app/view/compare/comparison.h"
#include "app/view/text.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>

namespace fourfold::tui {

ComparePage::ComparePage(Desk& desk)
    : Page(desk)
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
    sweep_.compare = [this](const ResolvedPlan& plan) { add(plan); };
}

// What is compared differs from time to time: its columns are no part of a view here.
view::SavedView ComparePage::as_view() const
{
    view::SavedView view;
    view.differences_only = differences_only_;
    return view;
}

std::vector<ComparePage::Entry> ComparePage::all() const
{
    std::vector<Entry> all;
    if (desk_.plan().prediction() && !left_out_.contains(&desk_.plan()))
        all.push_back({"this plan", "plan", desk_.plan().prediction(), {}, {}, {}, {}, &desk_.plan()});
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (i != desk_.plans().current_index() && plan.prediction() && !left_out_.contains(&plan))
            all.push_back(
                {std::to_string(i + 1) + " " + plan.state().title(), "plan", plan.prediction(), {}, {}, {}, {}, &plan});
    }
    all.insert(all.end(), entries_.begin(), entries_.end());
    return all;
}

std::size_t ComparePage::reference(const std::vector<Entry>& all) const
{
    const auto found
        = std::ranges::find_if(all, [this](const Entry& entry) { return reference_ && entry.is(*reference_); });
    return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
}

Table ComparePage::table(const std::vector<Entry>& all)
{
    Table table;
    table.columns = view::comparison_columns();
    for (const Entry& entry : all)
        table.rows.push_back(view::comparison_row(entry.name, entry.kind, *entry.prediction, entry.measured.get()));
    return table;
}

std::vector<NamedTimeline> ComparePage::timelines(const std::vector<Entry>& all)
{
    std::vector<NamedTimeline> timelines;
    for (const Entry& entry : all)
        timelines.push_back({entry.name, {entry.prediction, &entry.prediction->timeline}});
    for (const Entry& entry : all) {
        if (entry.trace)
            timelines.push_back({entry.name + ", measured", entry.trace});
    }
    return timelines;
}

void ComparePage::tick()
{
    std::erase_if(left_out_, [this](const view::PlanEditor* plan) { // closed since
        for (int i = 0; i < desk_.plans().count(); ++i) {
            if (&desk_.plans().at(i) == plan)
                return false;
        }
        return true;
    });
    if (desk_.page() == PageId::compare && shown_ == Shown::sweep)
        sweep_.tick();
    if (desk_.page() == PageId::compare && shown_ == Shown::scaling)
        scaling_.tick(compared());
}

std::vector<ScalingChart::Compared> ComparePage::compared() const
{
    std::vector<ScalingChart::Compared> compared;
    for (const Entry& entry : all())
        compared.push_back({entry.name, entry.prediction,
            entry.measured ? entry.measured->measured_tps_per_gpu : std::nullopt, entry.table});
    return compared;
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
    std::vector<std::string> lines;
    const std::vector<Entry> all = this->all();
    const Table entries = table(all);
    if (entries.rows.empty())
        return {"No plan that has an answer"};
    const std::size_t reference = this->reference(all);
    lines.push_back(entries.rows.size() == 1
            ? desk_.keyed("Only this plan; `a` adds stored runs, other plans, published rows; a search adds layouts "
                          "with `C`")
            : "Others against " + std::get<std::string>(entries.rows[reference].front())
                + (differences_only_ ? "; differences only" : ""));
    if (shown_ == Shown::timelines) {
        const std::string words = timelines_.said(timelines(all), reference);
        lines.push_back(words.empty() ? desk_.keyed("Two timelines are needed: `a` adds another") : words);
        if (!timelines_.remark().empty())
            lines.push_back(timelines_.remark());
        return lines;
    }
    speak_rows(lines, view::side_by_side(entries, differences_only_, reference), -1, 200);
    return lines;
}

bool ComparePage::key(const Key& key)
{
    if (key.is('X')) {
        desk_.ask_to_report([this] { return report(); });
    } else if (key.is('T')) {
        if (shown_ == Shown::scaling)
            desk_.show_table("Scaling", scaling_.table());
        else
            desk_.show_table("Comparison", table(all()));
    } else if (key.is('v')) {
        shown_ = shown_ == Shown::timelines ? Shown::table : Shown::timelines;
    } else if (key.is('m')) {
        shown_ = shown_ == Shown::sweep ? Shown::table : Shown::sweep;
    } else if (key.is('s')) {
        shown_ = shown_ == Shown::scaling ? Shown::table : Shown::scaling;
    } else if (shown_ == Shown::sweep && sweep_.key(key)) {
        return true;
    } else if (shown_ == Shown::scaling && scaling_.key(key)) {
        return true;
    } else if (shown_ == Shown::timelines && timelines_.key(key, timelines(all()).size())) {
        return true;
    } else if (key.is('a')) {
        ask_to_add();
    } else if (key.is('x') || key.code == Key::erase) {
        ask_to_remove();
    } else if (key.is('f')) {
        ask_reference();
    } else if (key.is('W')) {
        show_warnings();
    } else if (key.is('V')) {
        views_.ask();
    } else if (key.is('d')) {
        differences_only_ = !differences_only_;
    } else if (key.is('b')) {
        bar_figure_
            = static_cast<view::ComparedFigure>((static_cast<std::size_t>(bar_figure_) + 1) % view::kComparedFigures);
    } else if (key.is('e') && shown_ == Shown::timelines) {
        ask_to_export_timeline();
    } else if (key.is('e')) {
        desk_.ask_to_export(
            "comparison", [this] { return table(all()); }, Picture([this] { return Chart(bars(all(), bar_figure_)); }));
    } else {
        return table_view_.key(key, 100);
    }
    return true;
}

void ComparePage::ask_to_export_timeline()
{
    const std::vector<Entry> compared = all();
    const std::vector<NamedTimeline> timelines = ComparePage::timelines(compared);
    std::vector<NamedTimeline> shown;
    for (const std::size_t at : timelines_.on_show(timelines.size(), reference(compared))) {
        if (at < timelines.size())
            shown.push_back(timelines[at]);
    }
    std::vector<Picker::Item> items;
    for (const NamedTimeline& one : shown)
        items.push_back({one.name, "", [this, one] {
                             desk_.ask_to_export(
                                 "timeline", [one] { return spans_table(*one.timeline); }, {*one.timeline, one.name});
                         }});
    if (shown.size() > 1)
        items.push_back({"Both in one picture", "on one axis",
            [this, shown] { desk_.ask_to_export("timelines", {}, both_timelines(shown)); }});
    if (!items.empty())
        desk_.open(std::make_unique<Picker>("Export which timeline", std::move(items)));
}

void ComparePage::ask_reference()
{
    std::vector<Picker::Item> items;
    const std::vector<Entry> compared = all();
    for (const Entry& entry : compared)
        items.push_back({entry.name, entry.kind, [this, entry] { reference_ = entry; }});
    if (items.empty())
        desk_.tell("There is nothing to compare with");
    else
        desk_.open(std::make_unique<Picker>("Compare with", std::move(items)));
}

void ComparePage::show_warnings()
{
    std::string text;
    for (const Entry& entry : all())
        text += "# " + entry.name + "\n"
            + (entry.prediction->warnings.empty() ? "none\n"
                                                  : view::warning_lines(entry.prediction->warnings).substr(1) + "\n")
            + "\n";
    desk_.open(std::make_unique<Pager>("Warnings", text.empty() ? "Nothing is compared" : text));
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
