// SPDX-License-Identifier: GPL-3.0-or-later
// Constants fitted to chosen runs, over the whole page: what they would change, then a preset if it is wanted.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/table_view.h"
#include "app/view/history/recalibration.h"

namespace fourfold::tui {

class RecalibrateBox : public Overlay {
public:
    // `work` is delivered by its owner.
    RecalibrateBox(Desk& desk, std::shared_ptr<view::Recalibration> work);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;

private:
    [[nodiscard]] std::string title() const;
    [[nodiscard]] Table table() const; // the one on show
    void ask_to_save();
    void next_stack();

    Desk& desk_;
    std::shared_ptr<view::Recalibration> work_;
    std::vector<std::pair<std::string, int>> stacks_;
    std::size_t stack_ = 0;
    bool constants_ = false; // instead of the runs
    TableView view_;
};

} // namespace fourfold::tui
