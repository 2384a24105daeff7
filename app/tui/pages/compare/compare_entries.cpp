// SPDX-License-Identifier: GPL-3.0-or-later
// What is added to a comparison, and taken out of it.
#include "app/tui/pages/compare/compare_page.h"
#include "app/tui/pages/compare/table_items.h"
#include "app/view/compare/published.h"
#include "app/view/history/history_access.h"
#include "app/view/plan/facts.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/term_off.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
std::shared_ptr<const Prediction> predicted(const ResolvedPlan& plan)
{
    return std::make_shared<const Prediction>(predict_with_evidence(plan));
}
} // namespace

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
    add(Entry{name, kind, predicted(plan), {}, view::origin_of_layout(plan)});
}

void ComparePage::add(const MeasuredRow& row, const std::filesystem::path& table)
{
    const auto measured = std::make_shared<RunSummary>();
    measured->measured_tps_per_gpu = row.tps_per_gpu;
    measured->measured_step_time_s = row.step_time_s;
    measured->measured_memory_gib = row.memory_gib;
    const std::string line = std::to_string(row.line), stem = table.stem().string();
    add(Entry{stem + " line " + line, "published", predicted(row.plan), measured, view::origin_of_row(table, row.line),
        {}, stem});
}

// What is gone since, or is no plan any more, is left out.
void ComparePage::add_again(const std::string& origin, const std::string& name, const std::string& kind)
{
    const view::Origin read = view::read_origin(origin);
    if (read.kind == view::Origin::Kind::run) {
        if (const Expected<RunDetail> run = view::stored_run({}, read.text))
            add(*run);
    } else if (read.kind == view::Origin::Kind::layout) {
        const Expected<Plan> plan = parse_plan(read.text, "session");
        const Expected<ResolvedPlan> resolved
            = plan ? resolve(*plan, desk_.presets()) : Expected<ResolvedPlan>(plan.error());
        if (!resolved || !check(*resolved).empty())
            return;
        if (name.empty())
            add(*resolved);
        else
            add(*resolved, name, kind);
    } else if (read.kind == view::Origin::Kind::row) {
        const Expected<MeasuredTable> table = view::read_table(read.table, desk_.presets());
        for (const MeasuredRow& row : table ? table->rows : std::vector<MeasuredRow>()) {
            if (row.line == read.line && row.plan.gpus > 0)
                add(row, read.table);
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
        std::make_shared<const RunSummary>(run.summary), view::origin_of_run(run.summary.id)};
    if (auto trace = measured_step(run.other_events))
        entry.trace = std::make_shared<const Timeline>(*std::move(trace));
    add(std::move(entry));
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

void ComparePage::ask_to_add()
{
    std::vector<Picker::Item> items{{"A stored run", "", [this] { pick_run(); }},
        {"Another plan", "an example", [this] { pick_plan(); }},
        {"A published measurement", "", [this] { pick_table(); }},
        {"Comparisons", "kept by a name", [this] { ask_about_sets(); }}};
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

} // namespace fourfold::tui
