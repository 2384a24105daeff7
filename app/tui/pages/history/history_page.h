// SPDX-License-Identifier: GPL-3.0-or-later
// Every run with what was predicted, what was measured, and the error.
#pragma once

#include "app/tui/pages/history/history_changes.h"
#include "app/tui/pages/history/history_curves.h"
#include "app/tui/pages/history/history_import.h"
#include "app/tui/pages/page.h"
#include "app/tui/widgets/column_choice.h"
#include "app/tui/widgets/point_picker.h"
#include "app/tui/widgets/table_view.h"
#include "app/tui/widgets/view_menu.h"
#include "app/view/history/recalibration.h"
#include "app/view/history/runs_list.h"
#include "app/view/trace/trace_study.h"

#include <set>

namespace fourfold::tui {

class ComparePage;
class RunsPage;

class HistoryPage : public Page {
public:
    HistoryPage(Desk& desk, ComparePage& compare, RunsPage& runs);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override
    {
        return shows_curves_ ? HistoryCurves::hints()
            : picture_.focused
            ? "h l point  Enter facts  Space mark  Tab table"
            : "Enter facts  / filter  Space mark  Tab picture  v curves  P plan  K fit  I import  C compare  t tags  "
              "n note  D delete  e export";
    }
    [[nodiscard]] std::string remark() const override;
    [[nodiscard]] std::vector<Copy> copies() override;
    [[nodiscard]] std::vector<Command> commands() override;
    [[nodiscard]] std::vector<std::string> lines() override;
    [[nodiscard]] Json state() const override
    {
        return {{"curves", curves_.state()}, {"view", to_json(as_view())},
            {"chosen", chosen() == nullptr ? kept_ : chosen()->id}};
    }
    void restore(const Json& state) override;
    void tick() override;
    [[nodiscard]] int next_tick() const override { return is_following() ? curves_.next_tick() : -1; }

    void take(const std::filesystem::path& runs) { import_.take(runs); } // exported ones, or the folder of one
    void open_tracker(const std::filesystem::path& path); // of TensorBoard or Weights & Biases, among the curves
    std::function<void(StepTrace trace, view::TraceBeside beside)> show_trace; // over the page

private:
    [[nodiscard]] bool is_following() const { return shows_curves_ && desk_.page() == PageId::history; }
    void open_trace(const RunDetail& run);
    void compare_traces();
    void show_imported(const std::string& run);
    [[nodiscard]] view::SavedView as_view() const;
    Expected<void> show_view(const view::SavedView& kept);
    void read(); // the history, when the page comes in sight or a run ended
    void draw_table(Canvas& canvas, const Rect& place);
    void sort_by(int column); // of a heading that was clicked
    void show_curves();
    void ask_filter();
    void open_facts();
    void compare();
    void ask_about_plan(); // of the chosen run: to look at, to run again, to go on with
    void recalibrate();
    [[nodiscard]] const RunSummary* chosen() const;
    // The marked runs, as they are listed; without any the chosen one.
    [[nodiscard]] std::vector<RunSummary> meant() const;
    bool choose(const std::string& id); // false: it is not on show
    [[nodiscard]] std::string said() const; // how many, of how many, why none

    ComparePage& compare_;
    RunsPage& runs_;
    view::RunsList list_;
    PointPicker picture_;
    std::string filter_; // of list_
    TableView table_;
    std::set<std::string> marked_; // ids
    HistoryImport import_;
    HistoryCurves curves_;
    ColumnChoice choice_;
    ViewMenu views_;
    std::shared_ptr<view::Recalibration> recalibration_; // the last one
    view::Background traces_; // that are laid beside their predictions
    bool shows_curves_ = false; // instead of the table
    HistoryChanges changes_;
    bool fresh_ = false; // was read since the page came in sight
    std::string problem_;
    std::string kept_; // the chosen run of the session, until the runs are read
};

} // namespace fourfold::tui
