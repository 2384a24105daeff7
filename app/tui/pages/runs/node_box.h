// SPDX-License-Identifier: GPL-3.0-or-later
// What a look at the nodes found, and the nodes as a cluster that plans can name.
#pragma once

#include "app/tui/desk.h"
#include "app/view/cluster/node_cluster.h"

#include <functional>

namespace fourfold::tui {

class NodeBox : public Overlay {
public:
    // `save`: what is saved as what was answered; the box is gone by then.
    NodeBox(Desk& desk, const ProbeReport& report, std::function<void(const view::ClusterWish&)> save);
    void draw(Canvas& canvas, const Look& look) override { text_.draw(canvas, look); }
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;

private:
    void ask();

    Desk& desk_;
    ProbeReport report_;
    std::function<void(const view::ClusterWish&)> save_;
    Pager text_;
};

} // namespace fourfold::tui
