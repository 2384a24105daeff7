// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_list.h"

#include "app/view/compare/comparison.h"
#include "app/view/compare/published.h"
#include "app/view/history/history_access.h"
#include "app/view/history/run_facts.h"
#include "app/view/plan/facts.h"
#include "core/base/json_member.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/step_time.h"
#include "core/predict/term_off.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

Table compared_table(const CompareEntries& entries)
{
    Table table;
    table.columns = view::comparison_columns();
    for (const CompareEntry& entry : entries)
        table.rows.push_back(view::comparison_row(entry.name, entry.kind, *entry.prediction, entry.measured.get()));
    return table;
}

std::vector<NamedTimeline> compared_timelines(const CompareEntries& entries)
{
    std::vector<NamedTimeline> timelines;
    for (const CompareEntry& entry : entries)
        timelines.push_back(
            {entry.name, {entry.prediction, &entry.prediction->timeline}, steady_part(*entry.prediction)});
    for (const CompareEntry& entry : entries) {
        if (entry.trace)
            timelines.push_back({entry.name + ", measured", entry.trace});
    }
    return timelines;
}

std::vector<std::string> compare_words(const CompareEntries& entries)
{
    std::vector<std::string> words{"compare"}, runs;
    for (const CompareEntry& entry : entries) {
        const view::Origin origin = view::read_origin(entry.origin);
        if (entry.plan != nullptr && !entry.plan->file().empty() && !entry.plan->is_dirty())
            words.push_back(entry.plan->file().string());
        else if (entry.plan == nullptr && origin.kind == view::Origin::Kind::run)
            runs.insert(runs.end(), {"--run", origin.text});
        else
            return {};
    }
    words.insert(words.end(), runs.begin(), runs.end());
    return words.size() > 1 ? words : std::vector<std::string>();
}

namespace {
CompareEntry entry_of_plan(const std::string& name, const view::PlanEditor& plan)
{
    return {name, "plan", plan.prediction(), {}, {}, {}, {}, &plan};
}

std::shared_ptr<const Prediction> predicted(const ResolvedPlan& plan)
{
    return std::make_shared<const Prediction>(predict_with_evidence(plan));
}
} // namespace

CompareList::CompareList(Desk& desk)
    : desk_(desk)
{
}

CompareEntries CompareList::all() const
{
    CompareEntries all;
    if (desk_.plan().prediction() && !is_left_out(&desk_.plan()))
        all.push_back(entry_of_plan("this plan", desk_.plan()));
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (i != desk_.plans().current_index() && plan.prediction() && !is_left_out(&plan))
            all.push_back(entry_of_plan(std::to_string(i + 1) + " " + plan.state().title(), plan));
    }
    all.insert(all.end(), added_.begin(), added_.end());
    return all;
}

std::size_t CompareList::reference(const CompareEntries& all) const
{
    const auto found
        = std::ranges::find_if(all, [this](const CompareEntry& entry) { return reference_ && entry.is(*reference_); });
    return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
}

void CompareList::add(CompareEntry entry)
{
    if (std::ranges::any_of(added_, [&](const CompareEntry& other) { return other.is(entry); }))
        return;
    desk_.tell("Added " + entry.name);
    added_.push_back(std::move(entry));
}

void CompareList::add(const ResolvedPlan& layout)
{
    add(layout, view::layout_line(layout.layout) + " mb " + std::to_string(layout.training.micro_batch), "layout");
}

void CompareList::add(const ResolvedPlan& plan, const std::string& name, const std::string& kind)
{
    add(CompareEntry{name, kind, predicted(plan), {}, view::origin_of_layout(plan)});
}

void CompareList::add(const MeasuredRow& row, const std::filesystem::path& table)
{
    const auto measured = std::make_shared<RunSummary>();
    measured->measured_tps_per_gpu = row.tps_per_gpu;
    measured->measured_step_time_s = row.step_time_s;
    measured->measured_memory_gib = row.memory_gib;
    const std::string line = std::to_string(row.line), stem = table.stem().string();
    add(CompareEntry{stem + " line " + line, "published", predicted(row.plan), measured,
        view::origin_of_row(table, row.line), {}, stem});
}

void CompareList::add(const RunDetail& run)
{
    const Expected<ResolvedPlan> plan = read_resolved(run.plan, "run " + run.summary.id);
    if (!plan) {
        desk_.tell(plan.error().line(), view::Tone::bad);
        return;
    }
    CompareEntry entry{view::told_apart(run.summary.name, run.summary.id), "run", predicted(*plan),
        std::make_shared<const RunSummary>(run.summary), view::origin_of_run(run.summary.id)};
    if (auto trace = measured_step(run.other_events))
        entry.trace = std::make_shared<const Timeline>(*std::move(trace));
    add(std::move(entry));
}

void CompareList::add_again(const std::string& origin, const std::string& name, const std::string& kind)
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

void CompareList::remove(const CompareEntry& entry)
{
    if (entry.plan)
        left_out_.insert(entry.plan);
    else
        std::erase_if(added_, [&](const CompareEntry& other) { return other.is(entry); });
}

void CompareList::forget_closed()
{
    std::erase_if(left_out_, [this](const view::PlanEditor* plan) { return !desk_.plans().has(plan); });
}

std::vector<std::filesystem::path> CompareList::files_of_plans(bool left_out) const
{
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (!plan.file().empty() && is_left_out(&plan) == left_out)
            files.push_back(std::filesystem::absolute(plan.file()));
    }
    return files;
}

view::KeptComparison CompareList::kept() const
{
    view::KeptComparison kept;
    for (const CompareEntry& entry : added_) {
        if (!entry.origin.empty())
            kept.entries.push_back(entry.origin);
    }
    kept.left_out = files_of_plans(true);
    std::ranges::sort(kept.left_out); // the order of tabs says nothing here
    if (reference_)
        kept.reference = reference_->plan ? reference_->plan->state().title() : reference_->origin;
    return kept;
}

void CompareList::show(const view::KeptComparison& kept)
{
    added_.clear();
    left_out_.clear();
    reference_.reset();
    for (const std::string& origin : kept.entries)
        add_again(origin, {}, {});
    std::set<int> named;
    for (const std::filesystem::path& file : kept.plans ? *kept.plans : kept.left_out)
        named.insert(desk_.plans().index_of(file));
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (named.contains(i) != kept.plans.has_value())
            left_out_.insert(&plan);
        if (plan.state().title() == kept.reference && !is_left_out(&plan))
            reference_ = entry_of_plan({}, plan);
    }
    const auto entry = std::ranges::find(added_, kept.reference, &CompareEntry::origin);
    if (!kept.reference.empty() && entry != added_.end())
        reference_ = *entry;
    desk_.forget_message(); // of each entry
}

Json CompareList::state() const
{
    Json state{{"entries", Json::array()}};
    for (const CompareEntry& entry : added_) {
        if (!entry.origin.empty())
            state["entries"].push_back({{"origin", entry.origin}, {"name", entry.name}, {"kind", entry.kind}});
    }
    if (reference_ && !reference_->plan) // open plans are others the next time
        state["reference"] = {{"name", reference_->name}, {"kind", reference_->kind}};
    return state;
}

void CompareList::restore(const Json& state)
{
    if (state.contains("reference") && state["reference"].is_object())
        reference_ = CompareEntry{member_or(state["reference"], "name", std::string()),
            member_or(state["reference"], "kind", std::string()), {}, {}};
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
