// SPDX-License-Identifier: GPL-3.0-or-later
// Every layout that the plan's model, cluster and batch allow: a question, a table, a picture of the Pareto front.
#pragma once

#include "app/tui/pages/page.h"
#include "app/tui/widgets/column_choice.h"
#include "app/tui/widgets/point_picker.h"
#include "app/tui/widgets/table_view.h"
#include "app/tui/widgets/view_menu.h"
#include "app/view/background.h"
#include "app/view/search/search_job.h"
#include "core/search/advice.h"

#include <chrono>

namespace fourfold::tui {

class ComparePage;

class SearchPage : public Page {
public:
    SearchPage(Desk& desk, ComparePage& compare);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override;
    [[nodiscard]] std::string remark() const override;
    [[nodiscard]] std::vector<Copy> copies() override;
    [[nodiscard]] std::vector<Command> commands() override;
    [[nodiscard]] std::vector<std::string> lines() override;
    [[nodiscard]] bool is_moving() const override { return job_.is_running(); }
    void tick() override;
    [[nodiscard]] int next_tick() const override { return job_.is_running() ? 100 : -1; }
    [[nodiscard]] Json state() const override;
    void restore(const Json& state) override;

private:
    static constexpr int kMostExported = 100'000;
    void start();
    void finish(const SearchResult& result);
    void compare_plan(); // that was searched from, with what was found
    void sort_next(int step);
    void ask_objective();
    void ask_gpus();
    void ask_constraint();
    void ask_filter();
    void apply_chosen();
    void pin_chosen();
    void compare_pinned();
    void show_warnings(); // of the chosen layout
    void draw_nothing(Canvas& canvas, const Rect& place);
    void sort_by(int column);
    void draw_table(Canvas& canvas, const Rect& place);
    [[nodiscard]] view::RowPoints points() const; // of the rows on show
    [[nodiscard]] Plot front(std::size_t most) const; // of so many layouts beside the Pareto front
    [[nodiscard]] std::string shown_text() const; // which of the found ones are on show, where not all are
    [[nodiscard]] std::string gpus_text() const;
    [[nodiscard]] int gpus_of_question() const;
    [[nodiscard]] std::string objective_text() const;
    [[nodiscard]] std::optional<std::size_t> chosen() const; // id
    [[nodiscard]] std::vector<int> columns() const; // of Results, on show
    [[nodiscard]] view::SavedView as_view() const;
    Expected<void> show_view(const view::SavedView& kept);

    ComparePage& compare_;
    view::Results results_;
    view::SearchJob job_;
    const view::PlanEditor* searched_ = nullptr; // what the results answer; null: closed, or no search yet
    std::shared_ptr<const Prediction> compared_; // of it, as the results stand beside it; null: they do not
    TableView table_;
    PointPicker picture_;
    List cure_list_;
    // The question.
    std::string objective_ = "tps_per_gpu", constraint_, filter_;
    int gpus_ = 0; // 0: the plan's
    bool up_to_ = false, shows_refused_ = false;
    bool one_size_ = true, dense_ = true; // of the last search: columns that say nothing are left out

    std::string said_; // how far it is, or what came of it
    std::optional<Problem> obstacle_; // nothing was found
    std::vector<Advice> cures_;
    view::Background cure_work_;
    std::chrono::steady_clock::time_point began_;
    std::optional<std::size_t> kept_; // the chosen row's id, while rows arrive
    ColumnChoice choice_;
    ViewMenu views_;
};

} // namespace fourfold::tui
