// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_questions.h"

#include "app/tui/pages/compare/table_items.h"
#include "app/view/compare/published.h"
#include "app/view/history/history_access.h"
#include "app/view/history/run_facts.h"
#include "app/view/plan/facts.h"

namespace fourfold::tui {

CompareQuestions::CompareQuestions(Desk& desk, CompareList& list, CompareSets& sets)
    : desk_(desk)
    , list_(list)
    , sets_(sets)
{
}

void CompareQuestions::ask_to_remove()
{
    std::vector<Picker::Item> items;
    const auto offer = [&](const CompareEntry& entry, const std::string& detail) {
        items.push_back({entry.name, detail, [this, entry] { list_.remove(entry); }});
    };
    for (const CompareEntry& entry : list_.added())
        offer(entry, entry.kind);
    for (const CompareEntry& entry : list_.all()) {
        if (entry.plan)
            offer(entry, "open; it stays so");
    }
    if (items.empty())
        desk_.tell("Nothing is compared");
    else
        desk_.open(std::make_unique<Picker>("Remove", std::move(items)));
}

void CompareQuestions::ask_reference()
{
    std::vector<Picker::Item> items;
    for (const CompareEntry& entry : list_.all())
        items.push_back({entry.name, entry.kind, [this, entry] { list_.set_reference(entry); }});
    if (items.empty())
        desk_.tell("There is nothing to compare with");
    else
        desk_.open(std::make_unique<Picker>("Compare with", std::move(items)));
}

void CompareQuestions::ask_to_add()
{
    std::vector<Picker::Item> items{{"A stored run", "", [this] { pick_run(); }},
        {"Another plan", "an example", [this] { pick_plan(); }},
        {"A published measurement", "", [this] { pick_table(); }},
        {"Comparisons", "kept by a name", [this] { sets_.ask(); }}};
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor* const plan = &desk_.plans().at(i);
        if (list_.is_left_out(plan))
            items.push_back({plan->state().title(), "open", [this, plan] { list_.take_in(plan); }});
    }
    desk_.open(std::make_unique<Picker>("Add", std::move(items)));
}

void CompareQuestions::pick_run()
{
    const Expected<std::vector<RunSummary>> runs = view::stored_runs({});
    if (!runs) {
        desk_.tell(runs.error().line(), view::Tone::bad);
        return;
    }
    std::vector<Picker::Item> items;
    for (const RunSummary& run : *runs) {
        items.push_back({view::told_apart(run.name, run.id), run.layout, [this, id = run.id] {
                             if (const Expected<RunDetail> detail = view::stored_run({}, id))
                                 list_.add(*detail);
                             else
                                 desk_.tell(detail.error().line(), view::Tone::bad);
                         }});
    }
    if (items.empty())
        desk_.tell("The history holds no run yet");
    else
        desk_.open(std::make_unique<Picker>("Add a run", std::move(items)));
}

void CompareQuestions::pick_plan()
{
    std::vector<Picker::Item> items;
    for (const std::string& id : desk_.presets().ids("plans")) {
        items.push_back({id, "", [this, id] {
                             const auto file = desk_.presets().file("plans", id);
                             const auto plan = file ? read_plan(*file) : Expected<Plan>(file.error());
                             const auto resolved
                                 = plan ? resolve(*plan, desk_.presets()) : Expected<ResolvedPlan>(plan.error());
                             if (resolved)
                                 list_.add(*resolved, id, "plan");
                             else
                                 desk_.tell(resolved.error().line(), view::Tone::bad);
                         }});
    }
    desk_.open(std::make_unique<Picker>("Add a plan", std::move(items)));
}

void CompareQuestions::pick_table()
{
    desk_.open(std::make_unique<Picker>(
        "Measured table", table_items(desk_, [this](const std::filesystem::path& file) { pick_row(file); })));
}

void CompareQuestions::pick_row(const std::filesystem::path& table)
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
            [this, row, table] { list_.add(row, table); }});
    }
    desk_.open(std::make_unique<Picker>("Row of " + table.stem().string(), std::move(items)));
}

} // namespace fourfold::tui
