// SPDX-License-Identifier: GPL-3.0-or-later
// The compared plans on more and fewer GPUs, with what runs and published tables measured.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/plot.h"
#include "app/tui/widgets/table_view.h"
#include "app/view/background.h"
#include "app/view/compare/kept_comparison.h"
#include "app/view/compare/scaling.h"

namespace fourfold::tui {

class ScalingChart {
public:
    struct Compared {
        std::string name;
        std::shared_ptr<const Prediction> prediction;
        std::optional<double> tps_per_gpu; // measured
        std::string table; // of a published row; empty: of none
        bool operator==(const Compared&) const = default;
    };
    explicit ScalingChart(Desk& desk);
    void tick(const std::vector<Compared>& compared); // predicts anew where they are others
    void draw(Canvas& canvas, const Rect& place, const Look& look);
    bool key(const Key& key);
    [[nodiscard]] std::string chosen() const; // name of a series, in full
    [[nodiscard]] std::vector<std::string> lines();
    [[nodiscard]] PlotChart picture() const;
    [[nodiscard]] Table table() const; // a row a point
    [[nodiscard]] Json state() const; // the published series
    void restore(const Json& state);
    [[nodiscard]] std::vector<view::SeriesOrigin> origins() const; // of the published series
    // These published series and no others, read once they are looked at; what is gone since is left out.
    void show(const std::vector<view::SeriesOrigin>& origins);

private:
    struct Published {
        view::SeriesOrigin origin;
        view::ScalingSeries series;
    };
    void ask_table();
    void add_table(const std::filesystem::path& file);
    void read(const std::vector<view::SeriesOrigin>& origins);
    [[nodiscard]] std::vector<view::ScalingSeries> all() const; // predicted ones and runs, then published ones
    [[nodiscard]] std::string said() const;
    [[nodiscard]] Plot plot() const;

    Desk& desk_;
    view::Background work_;
    std::vector<Compared> compared_; // of series_
    std::vector<view::ScalingSeries> series_;
    std::vector<Published> published_;
    std::vector<view::SeriesOrigin> kept_; // not read yet
    TableView legend_;
};

} // namespace fourfold::tui
