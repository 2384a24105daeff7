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
    TableBox(std::string title, Table table);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string&) override { close(); }
    [[nodiscard]] bool only_tells() const override { return true; }

private:
    std::string title_;
    Table table_;
    TableView view_;
};

} // namespace fourfold::tui
