// SPDX-License-Identifier: GPL-3.0-or-later
// The open plans beside stored runs, other plans, found layouts and published rows: as a table with bars, as two
// timelines, as a map of layouts, as the scaling over GPUs.
#pragma once

#include "app/tui/pages/compare/compare_bars.h"
#include "app/tui/pages/compare/compare_list.h"
#include "app/tui/pages/compare/compare_questions.h"
#include "app/tui/pages/compare/compare_sets.h"
#include "app/tui/pages/compare/compare_timelines.h"
#include "app/tui/pages/compare/scaling_chart.h"
#include "app/tui/pages/compare/sweep_grid.h"
#include "app/tui/pages/page.h"
#include "app/tui/widgets/table_view.h"
#include "app/tui/widgets/view_menu.h"

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

    [[nodiscard]] CompareList& list() { return list_; }
    [[nodiscard]] CompareSets& sets() { return sets_; }
    [[nodiscard]] const CompareSets& sets() const { return sets_; }
    [[nodiscard]] CompareQuestions& questions() { return questions_; }
    // As a project keeps it; and what it kept instead of what is compared.
    [[nodiscard]] view::KeptComparison comparison() const;
    void show(const view::KeptComparison& kept);

private:
    void ask_to_export();
    void ask_to_export_timeline(); // one of the two on show, or both in one picture
    void show_warnings(); // of all that is compared
    void draw_table(Canvas& canvas, const Rect& place, const CompareEntries& all, const Look& look);
    [[nodiscard]] std::string head(const CompareEntries& all) const; // what is compared with what
    [[nodiscard]] Table side_by_side(const CompareEntries& all) const;
    [[nodiscard]] std::vector<ScalingChart::Compared> compared() const;
    [[nodiscard]] ReportPage report(); // of what is on show
    [[nodiscard]] ReportPage report_of_table(const CompareEntries& all) const;
    [[nodiscard]] view::SavedView as_view() const;

    enum class Shown { table, timelines, sweep, scaling } shown_ = Shown::table;
    CompareList list_;
    CompareSets sets_;
    CompareQuestions questions_;
    CompareBars bars_;
    TableView table_view_;
    bool differences_only_ = false;
    SweepGrid sweep_;
    ScalingChart scaling_;
    CompareTimelines timelines_;
    ViewMenu views_;
};

} // namespace fourfold::tui
