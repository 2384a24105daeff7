// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts x numbers of GPUs around the open plan: predicted, or beside a table that measured them.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/table_view.h"
#include "app/view/background.h"
#include "core/calibration/measured_grid.h"

namespace fourfold::tui {

class SweepGrid {
public:
    explicit SweepGrid(Desk& desk);
    std::function<void(const ResolvedPlan&)> compare; // takes the chosen cell's
    void draw(Canvas& canvas, const Rect& place);
    bool key(const Key& key);
    void tick(); // predicts anew where the plan changed
    [[nodiscard]] std::vector<std::string> lines();
    [[nodiscard]] TileChart picture() const;
    [[nodiscard]] std::string copied() const { return spreadsheet_rows(table(TableFormat::csv)); }

private:
    bool click(const Key& key);
    void ask_figure();
    void ask_table();
    // The chosen layout on the GPUs of the chosen column; what it is not is told.
    [[nodiscard]] std::optional<ResolvedPlan> chosen();
    void apply(); // into the plan
    void choose_own(const ResolvedPlan& plan); // its layout and number of GPUs
    [[nodiscard]] Table table(TableFormat format) const;
    [[nodiscard]] std::string said() const;

    Desk& desk_;
    view::Background work_;
    std::optional<ResolvedPlan> base_; // of the grid
    std::shared_ptr<const MeasuredTable> beside_; // null: predicted alone
    std::shared_ptr<const MeasuredGrid> measured_;
    LayoutGrid grid_;
    GridValue value_ = GridValue::tps_per_gpu;
    std::string problem_, table_name_;
    TableView view_;
    std::size_t column_ = 0; // of grid_.gpus
};

} // namespace fourfold::tui
