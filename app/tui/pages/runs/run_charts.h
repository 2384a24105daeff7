// SPDX-License-Identifier: GPL-3.0-or-later
// The live charts of a run over its steps: throughput, loss, memory, FLOPs, load of experts; read off at a step.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/plot.h"
#include "app/view/runs/live_run.h"

#include <optional>
#include <vector>

namespace fourfold::tui {

class RunCharts {
public:
    RunCharts(Desk& desk, const view::LiveRun& run) // both outlive it
        : desk_(desk)
        , run_(run)
    {
    }
    void draw(Canvas& canvas, const Rect& place, const Look& look);
    void hide() { plots_.clear(); } // there was no room
    bool point_at(const Key& key); // a click on a chart: read off there
    void move_cursor(int step);
    bool let_go(); // of the step that is read off; false: none is
    [[nodiscard]] Table table() const; // a row a point, of all
    void ask_to_export(); // which one, into which file

private:
    struct Curve {
        const char* name; // of its file
        Plot plot;
    };
    [[nodiscard]] std::vector<Curve> curves() const;

    Desk& desk_;
    const view::LiveRun& run_;
    std::vector<PlotPlace> plots_; // as drawn last
    std::optional<double> cursor_; // step that is read off; empty: none
};

} // namespace fourfold::tui
