// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_page.h"

#include "app/tui/linear/spoken.h"
#include "app/tui/pages/compare/table_items.h"
#include "app/view/answer.h"
#include "app/view/compare/comparison.h"
#include "app/view/compare/published.h"
#include "app/view/history/history_access.h"
#include "app/view/plan/facts.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/term_off.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
std::shared_ptr<const Prediction> predicted(const ResolvedPlan& plan)
{
    return std::make_shared<const Prediction>(predict_with_evidence(plan));
}
} // namespace

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

void ComparePage::add(Entry entry)
{
    const bool is_here
        = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) { return other.is(entry); });
    if (is_here)
        return;
    desk_.tell("Added " + entry.name);
    entries_.push_back(std::move(entry));
}

void ComparePage::add(const ResolvedPlan& layout)
{
    add(layout, view::layout_line(layout.layout) + " mb " + std::to_string(layout.training.micro_batch), "layout");
}

void ComparePage::add(const ResolvedPlan& plan, const std::string& name, const std::string& kind)
{
    add(Entry{name, kind, predicted(plan), {}, "plan:" + to_json(plan, PresetStyle::ids).dump()});
}

void ComparePage::add(const MeasuredRow& row, const std::filesystem::path& table)
{
    const auto measured = std::make_shared<RunSummary>();
    measured->measured_tps_per_gpu = row.tps_per_gpu;
    measured->measured_step_time_s = row.step_time_s;
    measured->measured_memory_gib = row.memory_gib;
    const std::string line = std::to_string(row.line), stem = table.stem().string();
    add(Entry{stem + " line " + line, "published", predicted(row.plan), measured,
        "row:" + line + ":" + std::filesystem::absolute(table).string(), {}, stem});
}

// What is gone since, or is no plan any more, is left out.
void ComparePage::add_again(const std::string& origin, const std::string& name, const std::string& kind)
{
    const std::size_t colon = origin.find(':');
    const std::string what = origin.substr(0, colon), rest = colon == std::string::npos ? "" : origin.substr(colon + 1);
    if (what == "run") {
        if (const Expected<RunDetail> run = view::stored_run({}, rest))
            add(*run);
    } else if (what == "plan") {
        const Expected<Plan> plan = parse_plan(rest, "session");
        const Expected<ResolvedPlan> resolved
            = plan ? resolve(*plan, desk_.presets()) : Expected<ResolvedPlan>(plan.error());
        if (resolved && check(*resolved).empty())
            add(*resolved, name, kind);
    } else if (what == "row") {
        const std::filesystem::path file = rest.substr(std::min(rest.find(':'), rest.size() - 1) + 1);
        const Expected<MeasuredTable> table = view::read_table(file, desk_.presets());
        for (const MeasuredRow& row : table ? table->rows : std::vector<MeasuredRow>()) {
            if (std::to_string(row.line) == rest.substr(0, rest.find(':')) && row.plan.gpus > 0)
                add(row, file);
        }
    }
}

void ComparePage::add(const RunDetail& run)
{
    const Expected<ResolvedPlan> plan = read_resolved(run.plan, "run " + run.summary.id);
    if (!plan) {
        desk_.tell(plan.error().line(), view::Tone::bad);
        return;
    }
    Entry entry{run.summary.name + " " + run.summary.id.substr(0, 8), "run", predicted(*plan),
        std::make_shared<const RunSummary>(run.summary), "run:" + run.summary.id};
    if (auto trace = measured_step(run.other_events))
        entry.trace = std::make_shared<const Timeline>(*std::move(trace));
    add(std::move(entry));
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

void ComparePage::ask_to_remove()
{
    std::vector<Picker::Item> items;
    for (std::size_t i = 0; i < entries_.size(); ++i)
        items.push_back({entries_[i].name, entries_[i].kind,
            [this, i] { entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i)); }});
    for (const Entry& entry : all()) {
        if (entry.plan)
            items.push_back({entry.name, "open; it stays so", [this, plan = entry.plan] { left_out_.insert(plan); }});
    }
    if (items.empty())
        desk_.tell("Nothing is compared");
    else
        desk_.open(std::make_unique<Picker>("Remove", std::move(items)));
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

void ComparePage::ask_to_add()
{
    std::vector<Picker::Item> items{{"A stored run", "", [this] { pick_run(); }},
        {"Another plan", "an example", [this] { pick_plan(); }},
        {"A published measurement", "", [this] { pick_table(); }}};
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor* const plan = &desk_.plans().at(i);
        if (left_out_.contains(plan))
            items.push_back({plan->state().title(), "open", [this, plan] { left_out_.erase(plan); }});
    }
    desk_.open(std::make_unique<Picker>("Add", std::move(items)));
}

void ComparePage::pick_run()
{
    const Expected<std::vector<RunSummary>> runs = view::stored_runs({});
    if (!runs) {
        desk_.tell(runs.error().line(), view::Tone::bad);
        return;
    }
    std::vector<Picker::Item> items;
    for (const RunSummary& run : *runs) {
        items.push_back({run.name + " " + run.id.substr(0, 8), run.layout, [this, id = run.id] {
                             if (const Expected<RunDetail> detail = view::stored_run({}, id))
                                 add(*detail);
                             else
                                 desk_.tell(detail.error().line(), view::Tone::bad);
                         }});
    }
    if (items.empty())
        desk_.tell("The history holds no run yet");
    else
        desk_.open(std::make_unique<Picker>("Add a run", std::move(items)));
}

void ComparePage::pick_plan()
{
    std::vector<Picker::Item> items;
    for (const std::string& id : desk_.presets().ids("plans")) {
        items.push_back({id, "", [this, id] {
                             const auto file = desk_.presets().file("plans", id);
                             const auto plan = file ? read_plan(*file) : Expected<Plan>(file.error());
                             const auto resolved
                                 = plan ? resolve(*plan, desk_.presets()) : Expected<ResolvedPlan>(plan.error());
                             if (resolved)
                                 add(*resolved, id, "plan");
                             else
                                 desk_.tell(resolved.error().line(), view::Tone::bad);
                         }});
    }
    desk_.open(std::make_unique<Picker>("Add a plan", std::move(items)));
}

void ComparePage::pick_table()
{
    desk_.open(std::make_unique<Picker>(
        "Measured table", table_items(desk_, [this](const std::filesystem::path& file) { pick_row(file); })));
}

void ComparePage::pick_row(const std::filesystem::path& table)
{
    const Expected<MeasuredTable> read = view::read_table(table, desk_.presets());
    if (!read) {
        desk_.tell(read.error().line(), view::Tone::bad);
        return;
    }
    std::vector<Picker::Item> items;
    for (const MeasuredRow& row : read->rows) {
        if (row.plan.gpus == 0 || !row.ran())
            continue;
        items.push_back({row.plan.model.name + " on " + view::gpus_fact(row.plan), view::layout_line(row.plan.layout),
            [this, row, table] { add(row, table); }});
    }
    desk_.open(std::make_unique<Picker>("Row of " + table.stem().string(), std::move(items)));
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

Json ComparePage::state() const
{
    Json origins = Json::array();
    for (const Entry& entry : entries_) {
        if (!entry.origin.empty())
            origins.push_back({{"origin", entry.origin}, {"name", entry.name}, {"kind", entry.kind}});
    }
    Json state{{"entries", origins}, {"differences_only", differences_only_}, {"shown", static_cast<int>(shown_)},
        {"bars", static_cast<int>(bar_figure_)}, {"series", scaling_.state()}};
    if (reference_ && !reference_->plan) // open plans are others the next time
        state["reference"] = {{"name", reference_->name}, {"kind", reference_->kind}};
    return state;
}

void ComparePage::restore(const Json& state)
{
    differences_only_ = state.contains("differences_only") && state["differences_only"] == true;
    shown_ = static_cast<Shown>(std::clamp(member_or(state, "shown", 0), 0, static_cast<int>(Shown::scaling)));
    bar_figure_ = static_cast<view::ComparedFigure>(
        std::clamp(member_or(state, "bars", 0), 0, static_cast<int>(view::kComparedFigures) - 1));
    if (state.contains("reference") && state["reference"].is_object())
        reference_ = Entry{member_or(state["reference"], "name", std::string()),
            member_or(state["reference"], "kind", std::string()), {}, {}};
    scaling_.restore(state.value("series", Json()));
    if (!state.contains("entries") || !state["entries"].is_array())
        return;
    for (const Json& entry : state["entries"]) {
        if (entry.is_string()) // of a version that kept runs alone
            add_again(entry.get<std::string>(), {}, {});
        else if (entry.is_object())
            add_again(member_or(entry, "origin", std::string()), member_or(entry, "name", std::string()),
                member_or(entry, "kind", std::string()));
    }
    desk_.forget_message();
}

} // namespace fourfold::tui
