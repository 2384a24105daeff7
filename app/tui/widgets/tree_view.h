// SPDX-License-Identifier: GPL-3.0-or-later
// The derivation of a figure as a tree that opens and closes, over the whole page.
#pragma once

#include "app/tui/widgets/overlay.h"
#include "core/predict/explain.h"

namespace fourfold::tui {

class TreeView : public Overlay {
public:
    explicit TreeView(Explanation explanation);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] bool only_tells() const override { return true; }
    [[nodiscard]] std::string hints() const override
    {
        return "j k line  l open  h close  Enter either  y copy  Esc leave";
    }
    [[nodiscard]] std::string copied() const override { return lines(kAllOfIt); }

private:
    struct Node {
        const Explanation* what;
        int depth, parent; // parent: index in nodes_, -1 of the root
        bool open;
    };
    static constexpr int kAllOfIt = 1'000'000;
    [[nodiscard]] std::string lines(int deepest) const; // a line a node down to that depth
    void add(const Explanation& what, int depth, int parent);
    [[nodiscard]] std::vector<int> visible() const; // indices in nodes_

    Explanation explanation_;
    std::vector<Node> nodes_; // in the order of the tree
    List list_;
    Rect place_; // of the tree, as drawn last
};

} // namespace fourfold::tui
