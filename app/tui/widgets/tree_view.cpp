// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/tree_view.h"

#include "app/view/prediction/derivation.h"

#include <algorithm>

namespace fourfold::tui {

TreeView::TreeView(Explanation explanation)
    : explanation_(std::move(explanation))
{
    add(explanation_, 0, -1);
}

void TreeView::add(const Explanation& what, int depth, int parent)
{
    const int index = static_cast<int>(nodes_.size());
    nodes_.push_back({&what, depth, parent, depth == 0});
    for (const Explanation& child : what.children)
        add(child, depth + 1, index);
}

std::vector<int> TreeView::visible() const
{
    std::vector<int> shown;
    int closed_at = -1; // depth of a closed node whose children are skipped
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (closed_at >= 0 && nodes_[i].depth > closed_at)
            continue;
        closed_at = nodes_[i].open ? -1 : nodes_[i].depth;
        shown.push_back(static_cast<int>(i));
    }
    return shown;
}

void TreeView::draw(Canvas& canvas, const Look&)
{
    const Rect inside
        = draw_frame(canvas, canvas.rows() - 4, canvas.columns() - 6, "Derivation: " + explanation_.label);
    const std::vector<int> shown = visible();
    constexpr int kBelow = 5; // formula and source of the chosen line
    const int rows = std::max(1, inside.rows - kBelow);
    list_.fit(static_cast<int>(shown.size()), rows);
    place_ = {inside.row, inside.column, rows, inside.columns};
    const int value_columns = 16, label_columns = std::clamp(inside.columns / 2, 20, 48);
    for (int i = 0; i < rows && list_.top + i < static_cast<int>(shown.size()); ++i) {
        const Node& node = nodes_[static_cast<std::size_t>(shown[static_cast<std::size_t>(list_.top + i)])];
        const int row = inside.row + i, indent = inside.column + 2 * node.depth;
        if (!node.what->children.empty())
            canvas.put(row, indent, node.open ? U'\u25be' : U'\u25b8', kAccent);
        canvas.text_in(row, indent + 2, label_columns - 2 * node.depth - 2, node.what->label);
        canvas.text_in(
            row, inside.column + label_columns, value_columns, view::explained_value(*node.what), kBold, true);
        canvas.text_in(row, inside.column + label_columns + value_columns + 2,
            inside.columns - label_columns - value_columns - 2, node.what->formula, kMuted);
        if (list_.top + i == list_.selected)
            canvas.restyle({row, inside.column, 1, inside.columns}, kReverse);
    }
    const Explanation& chosen = *nodes_[static_cast<std::size_t>(shown[static_cast<std::size_t>(list_.selected)])].what;
    int row = inside.row + rows;
    std::vector<std::string> below;
    if (!chosen.formula.empty())
        below = wrapped(chosen.formula, inside.columns);
    if (below.size() > 3)
        below.resize(3);
    for (const std::string& line : below)
        canvas.text(++row, inside.column, line);
    if (!chosen.source.empty())
        canvas.text_in(inside.row + inside.rows - 1, inside.column, inside.columns, "from " + chosen.source, kMuted);
}

std::string TreeView::read_out()
{
    constexpr int kDeepest = 2; // what lies below is read from the figure that it belongs to
    return "Derivation\n" + lines(kDeepest);
}

std::string TreeView::lines(int deepest) const
{
    std::string text;
    for (const Node& node : nodes_) {
        if (node.depth > deepest)
            continue;
        text += std::string(static_cast<std::size_t>(2 * node.depth), ' ') + node.what->label + ": "
            + view::explained_value(*node.what) + (node.what->formula.empty() ? "" : ", " + node.what->formula) + "\n";
    }
    return text;
}

void TreeView::answer(const std::string&)
{
    close();
}

void TreeView::key(const Key& key)
{
    const std::vector<int> shown = visible();
    Node& node = nodes_[static_cast<std::size_t>(shown[static_cast<std::size_t>(list_.selected)])];
    if (key.code == Key::escape || key.is('q') || key.is_ctrl('c')) {
        close();
    } else if (const auto again = list_.click(key, place_, static_cast<int>(shown.size()))) {
        if (*again)
            node.open = !node.open;
    } else if (key.code == Key::enter || key.is(' ')) {
        node.open = !node.open;
    } else if (key.code == Key::right || key.is('l')) {
        if (!node.open && !node.what->children.empty())
            node.open = true;
        else
            list_.key({Key::down}, static_cast<int>(shown.size()));
    } else if (key.code == Key::left || key.is('h')) {
        if (node.open && !node.what->children.empty()) {
            node.open = false;
        } else if (node.parent >= 0) {
            const auto at = std::find(shown.begin(), shown.end(), node.parent);
            list_.selected = static_cast<int>(at - shown.begin());
        }
    } else {
        list_.key(key, static_cast<int>(shown.size()));
    }
}

} // namespace fourfold::tui
