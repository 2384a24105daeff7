// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of the history laid over each other: a chart for each chosen figure over a common axis, and below them each run
// with its mark and what it had at the cursor.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/plot.h"
#include "app/tui/widgets/table_view.h"
#include "app/view/curves/curve_runs.h"

#include <chrono>
#include <set>

namespace fourfold::tui {

class HistoryCurves {
public:
    explicit HistoryCurves(Desk& desk);
    void show(const std::vector<RunSummary>& runs); // these and no others
    void take(const std::string& run, const Json& event) { runs_.append(run, event); } // of a run that goes on
    // Lays the runs of TensorBoard or Weights & Biases in a file or folder beside them, until they are closed. How many
    // it holds.
    Expected<std::size_t> open_tracker(const std::filesystem::path& path);
    [[nodiscard]] bool has_trackers() const { return !runs_.trackers().ids().empty(); }
    void tick(bool on_show); // what trackers write is followed while it is looked at
    [[nodiscard]] int next_tick() const; // milliseconds, negative: only when woken
    [[nodiscard]] std::string chosen_place() const; // where a tracker's run lies; empty: it is of the history

    void draw(Canvas& canvas, const Rect& place, const Look& look);
    bool key(const Key& key);
    [[nodiscard]] bool shows_part() const { return runs_.curves().range().has_value(); } // of the axis
    [[nodiscard]] static std::string hints() { return "v runs  a axis  s smooth  p group  b figure  + - zoom"; }
    [[nodiscard]] std::vector<Command> commands();
    [[nodiscard]] std::vector<std::string> lines() const;
    [[nodiscard]] Json state() const;
    void restore(const Json& state);

private:
    struct Chart {
        view::CurveMetric metric;
        view::CurvePicture picture;
    };
    [[nodiscard]] std::vector<Chart> charts(int dots) const;
    [[nodiscard]] Plot plot_of(const Chart& chart) const;
    void draw_chart(Canvas& canvas, const Rect& place, const Chart& chart, const Look& look);
    bool mouse(const Key& key); // a click reads off, a drag looks closer
    void draw_legend(Canvas& canvas, const Rect& place, const std::vector<Chart>& charts);
    [[nodiscard]] std::string said() const; // how many, over what, how they are shown
    [[nodiscard]] std::string read_off(const Chart& chart, const std::string& key) const; // of a run, at the cursor
    void smooth(int step);
    void group_next();
    void zoom(double factor);
    void move_cursor(int step);
    void ask_figures();
    [[nodiscard]] Table table(view::CurveMetric metric) const;
    void ask_to_export();
    void toggle_chosen();
    [[nodiscard]] std::string chosen_key() const; // of the list; empty: there is none
    void close_tracker(); // the chosen one
    void close_trackers();

    Desk& desk_;
    view::CurveRuns runs_;
    std::size_t wanted_ = 0; // runs
    std::set<view::CurveMetric> figures_{view::CurveMetric::loss, view::CurveMetric::throughput};
    std::optional<double> cursor_; // of the axis
    std::vector<PlotPlace> plots_; // as drawn last
    std::optional<double> pressed_, dragged_; // of the axis: where the mouse went down, and where it is
    TableView legend_;
    std::chrono::steady_clock::time_point looked_{}; // at what trackers wrote
};

} // namespace fourfold::tui
