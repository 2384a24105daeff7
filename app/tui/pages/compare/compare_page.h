// SPDX-License-Identifier: GPL-3.0-or-later
// The open plan beside stored runs, other plans, found layouts and published rows.
#pragma once

#include "app/tui/pages/compare/compare_timelines.h"
#include "app/tui/pages/compare/scaling_chart.h"
#include "app/tui/pages/compare/sweep_grid.h"
#include "app/tui/pages/page.h"
#include "app/tui/widgets/table_view.h"
#include "app/tui/widgets/view_menu.h"
#include "app/view/compare/comparison_bars.h"
#include "app/view/compare/kept_comparison.h"
#include "core/calibration/measured_table.h"
#include "core/history/store.h"

#include <map>
#include <set>

namespace fourfold::tui {

class ComparePage : public Page {
public:
    explicit ComparePage(Desk& desk);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override;
    [[nodiscard]] std::string remark() const override
    {
        return shown_ == Shown::scaling ? scaling_.chosen() : std::string();
    }
    [[nodiscard]] std::vector<Copy> copies() override;
    void tick() override;
    [[nodiscard]] std::vector<Command> commands() override;
    [[nodiscard]] std::vector<std::string> lines() override;
    [[nodiscard]] Json state() const override;
    void restore(const Json& state) override;

    void add(const ResolvedPlan& layout); // that a search found
    void add(const RunDetail& run);
    void pick_row(const std::filesystem::path& table); // of a measured table, to be added

    // --- as it is kept, by a project for one ---
    using Sets = std::map<std::string, view::KeptComparison>; // by their names
    [[nodiscard]] view::KeptComparison comparison() const;
    void show(const view::KeptComparison& kept); // instead of what is compared
    [[nodiscard]] const Sets& sets() const { return sets_; }
    void set_sets(Sets sets) { sets_ = std::move(sets); }

private:
    struct Entry {
        std::string name, kind;
        std::shared_ptr<const Prediction> prediction;
        std::shared_ptr<const RunSummary> measured; // null: was not run
        std::string origin{}; // what the next start adds again (view/compare/kept_comparison.h)
        std::shared_ptr<const Timeline> trace{}; // of a run's measured step
        std::string table{}; // of a published row
        const view::PlanEditor* plan = nullptr; // of an open plan
        // The same wherever it stands: open plans change their order, and each has one on show before it.
        [[nodiscard]] bool is(const Entry& other) const
        {
            return plan == other.plan && (plan || (name == other.name && kind == other.kind));
        }
    };
    void add(Entry entry);
    void ask_to_add();
    void pick_run();
    void pick_plan();
    void pick_table();
    [[nodiscard]] std::vector<std::filesystem::path> files_of_plans(bool left_out) const; // of open ones
    void ask_about_sets();
    void ask_to_save_set();
    void save_set(const std::string& name);
    void show_set(const std::string& name);
    void add(const ResolvedPlan& plan, const std::string& name, const std::string& kind);
    void add(const MeasuredRow& row, const std::filesystem::path& table);
    void add_again(const std::string& origin, const std::string& name, const std::string& kind);
    void ask_to_export_timeline(); // one of the two on show, or both in one picture
    void ask_to_remove();
    void ask_reference();
    void show_warnings(); // of all that is compared
    [[nodiscard]] std::vector<ScalingChart::Compared> compared() const;
    // All that is compared: the plan on show, the other open ones, then what was added.
    [[nodiscard]] std::vector<Entry> all() const;
    // Of these, in their order: the predicted timelines, the measured ones behind them; a row of the table each.
    [[nodiscard]] static std::vector<NamedTimeline> timelines(const std::vector<Entry>& all);
    [[nodiscard]] static Table table(const std::vector<Entry>& all);
    [[nodiscard]] static BarChart bars(const std::vector<Entry>& all, view::ComparedFigure figure);
    void draw_bars(Canvas& canvas, const Rect& place, const BarChart& chart, const Look& look) const;
    [[nodiscard]] static int rows_of(const BarChart& chart); // on the screen
    [[nodiscard]] ReportPage report(); // of what is on show
    [[nodiscard]] view::SavedView as_view() const;

    std::vector<Entry> entries_;
    std::set<const view::PlanEditor*> left_out_; // open plans that are not compared
    Sets sets_;
    TableView table_view_;
    [[nodiscard]] std::size_t reference(const std::vector<Entry>& all) const; // its place
    std::optional<Entry> reference_; // empty, or not there any more: the plan on show
    bool differences_only_ = false;
    view::ComparedFigure bar_figure_ = view::ComparedFigure::throughput;
    enum class Shown { table, timelines, sweep, scaling } shown_ = Shown::table;
    SweepGrid sweep_;
    ScalingChart scaling_;
    CompareTimelines timelines_;
    ViewMenu views_;
};

} // namespace fourfold::tui
