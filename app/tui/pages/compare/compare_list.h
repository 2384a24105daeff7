// SPDX-License-Identifier: GPL-3.0-or-later
// What is compared: the plan on show, the other open plans, then the stored runs, plans, published rows and found
// layouts that were added to them.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/pages/compare/compare_timelines.h"
#include "app/view/compare/kept_comparison.h"
#include "core/calibration/measured_table.h"
#include "core/history/store.h"
#include "core/report/table/table.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fourfold::tui {

struct CompareEntry {
    std::string name, kind;
    std::shared_ptr<const Prediction> prediction;
    std::shared_ptr<const RunSummary> measured; // null: was not run
    std::string origin{}; // what the next start adds again (view/compare/kept_comparison.h)
    std::shared_ptr<const Timeline> trace{}; // of a run's measured step
    std::string table{}; // of a published row
    const view::PlanEditor* plan = nullptr; // of an open plan
    // The same wherever it stands: open plans change their order, and each has one on show before it.
    [[nodiscard]] bool is(const CompareEntry& other) const
    {
        return plan == other.plan && (plan || (name == other.name && kind == other.kind));
    }
    [[nodiscard]] std::optional<double> tps_per_gpu() const // measured
    {
        return measured ? measured->measured_tps_per_gpu : std::nullopt;
    }
};
using CompareEntries = std::vector<CompareEntry>;

// A row of the table each.
Table compared_table(const CompareEntries& entries);
// The predicted timelines in their order, the measured ones behind them.
std::vector<NamedTimeline> compared_timelines(const CompareEntries& entries);
// Of a call of `fourfold` that says the same; empty where an entry has no name there.
std::vector<std::string> compare_words(const CompareEntries& entries);

class CompareList {
public:
    explicit CompareList(Desk& desk);

    [[nodiscard]] CompareEntries all() const;
    [[nodiscard]] const CompareEntries& added() const { return added_; }
    // The place of the reference in all(): what was chosen; the first where that is not there any more.
    [[nodiscard]] std::size_t reference(const CompareEntries& all) const;
    void set_reference(CompareEntry entry) { reference_ = std::move(entry); }

    // What is here already is not added again; the line at the bottom names what was.
    void add(const ResolvedPlan& layout); // that a search found
    void add(const ResolvedPlan& plan, const std::string& name, const std::string& kind);
    void add(const RunDetail& run);
    void add(const MeasuredRow& row, const std::filesystem::path& table);
    void remove(const CompareEntry& entry); // an open plan stays open

    // --- open plans that are not compared ---
    [[nodiscard]] bool is_left_out(const view::PlanEditor* plan) const { return left_out_.contains(plan); }
    void take_in(const view::PlanEditor* plan) { left_out_.erase(plan); }
    void forget_closed();
    // Of the open plans that have one.
    [[nodiscard]] std::vector<std::filesystem::path> files_of_plans(bool left_out) const;

    // --- as it is kept ---
    [[nodiscard]] view::KeptComparison kept() const; // by a project: without what is no part of the list
    void show(const view::KeptComparison& kept); // instead of what is here
    [[nodiscard]] Json state() const; // by the session
    void restore(const Json& state);

private:
    void add(CompareEntry entry);
    // What is gone since, or is no plan any more, is left out.
    void add_again(const std::string& origin, const std::string& name, const std::string& kind);

    Desk& desk_;
    CompareEntries added_;
    std::set<const view::PlanEditor*> left_out_;
    std::optional<CompareEntry> reference_; // empty: the first
};

} // namespace fourfold::tui
