// SPDX-License-Identifier: GPL-3.0-or-later
// A cluster in one step: a name to look behind, what was found, how it is saved, and what is done with it.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/form_lines.h"
#include "app/view/cluster/cluster_finder.h"

#include <functional>
#include <string>
#include <vector>

namespace fourfold::tui {

class ClusterForm : public Overlay {
public:
    // `taken`: the id of a target that was saved, for a page to run on.
    ClusterForm(Desk& desk, std::function<void(const std::string& target)> taken);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    void tick() override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;

private:
    void show_controls(); // lines for what was found
    void look();
    void act(int action); // of the list at the end
    void finish();
    void refresh(); // what will be saved
    [[nodiscard]] view::ClusterFinder::Controls controls() const;
    [[nodiscard]] bool in_actions() const { return form_.is_behind(); }

    Desk& desk_;
    std::function<void(const std::string&)> taken_;
    std::shared_ptr<view::ClusterFinder> finder_;
    FormLines form_; // behind its lines: the actions
    List actions_;
    Rect actions_place_; // as drawn last
    std::string outcome_, refusal_;
};

} // namespace fourfold::tui
