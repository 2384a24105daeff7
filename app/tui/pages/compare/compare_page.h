// SPDX-License-Identifier: GPL-3.0-or-later
// The open plan beside stored runs, other plans, found layouts and published rows.
#pragma once

#include "app/tui/pages/compare/compare_timelines.h"
#include "app/tui/pages/compare/sweep_grid.h"
#include "app/tui/pages/page.h"
#include "app/tui/widgets/table_view.h"
#include "core/history/store.h"

namespace fourfold::tui {

class ComparePage : public Page {
public:
    explicit ComparePage(Desk& desk);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override;
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
        std::optional<RunSummary> measured;
        std::string origin{}; // "run:ID"; what the next start adds again
        std::optional<Timeline> trace{}; // of a run's measured step
    };
    void add(Entry entry);
    void ask_to_add();
    void pick_run();
    void pick_plan();
    void pick_table();
    void pick_row(const std::filesystem::path& table);
    void pick_entry(const std::string& title, bool with_plan, std::function<void(std::size_t)> then);
    // Predicted ones in the order of table(), the measured ones behind them.
    [[nodiscard]] std::vector<NamedTimeline> timelines() const;
    [[nodiscard]] Table table() const; // a row an entry, the open plan first

    std::vector<Entry> entries_;
    TableView table_view_;
    std::size_t reference_ = 0; // 0: the open plan
    bool differences_only_ = false;
    enum class Shown { table, timelines, sweep } shown_ = Shown::table;
    SweepGrid sweep_;
    CompareTimelines timelines_;
};

} // namespace fourfold::tui
