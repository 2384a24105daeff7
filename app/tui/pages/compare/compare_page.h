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
#include "core/calibration/measured_table.h"
#include "core/history/store.h"

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

private:
    struct Entry {
        std::string name, kind;
        std::shared_ptr<const Prediction> prediction;
        std::shared_ptr<const RunSummary> measured; // null: was not run
        std::string origin{}; // "run:ID", "plan:JSON", "row:LINE:FILE"; what the next start adds again
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
    void pick_row(const std::filesystem::path& table);
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
