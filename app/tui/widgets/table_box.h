// SPDX-License-Identifier: GPL-3.0-or-later
// A table over the page: what a picture shows, as figures.
#pragma once

#include "app/tui/widgets/overlay.h"
#include "app/tui/widgets/table_view.h"
#include "core/report/table/table.h"

#include <string>

namespace fourfold::tui {

class TableBox : public Overlay {
public:
    // `below`: what else may be done with it.
    TableBox(std::string title, Table table, const std::string& below);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string&) override { close(); }
    [[nodiscard]] bool only_tells() const override { return true; }
    [[nodiscard]] std::string copied() const override { return spreadsheet_rows(table_); }

private:
    std::string title_, below_;
    Table table_;
    TableView view_;
};

} // namespace fourfold::tui
