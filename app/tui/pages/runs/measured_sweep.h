// SPDX-License-Identifier: GPL-3.0-or-later
// A table of layouts that is measured here, one run a cell, as far as it is.
#pragma once

#include "app/tui/desk.h"
#include "runner/sweep/sweep_table.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::tui {

class MeasuredSweep {
public:
    explicit MeasuredSweep(Desk& desk) // outlives it
        : desk_(desk)
    {
    }
    // `next`: the cell that is measured now; empty: none is any more, which is told.
    void take(const SweepTable& table, const std::string& next);
    void forget() { table_.reset(); }
    [[nodiscard]] bool is_there() const { return table_.has_value(); }
    void draw(Canvas& canvas, const Rect& place) const;
    [[nodiscard]] std::vector<std::string> lines() const;
    void ask_to_export();

private:
    Desk& desk_;
    std::optional<SweepTable> table_;
    std::string text_; // how far, and which cell is next
};

} // namespace fourfold::tui
