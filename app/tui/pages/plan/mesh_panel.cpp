// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPU of which node is which tp, cp, pp and dp: the groups of the chosen GPU stand out.
#include "app/tui/pages/plan/panel.h"
#include "app/tui/widgets/bars.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/prediction/rank_mesh.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <optional>

namespace fourfold::tui {

namespace {
constexpr Fill kDimensionFills[]{{Ink::orange, U'T'}, {Ink::purple, U'C'}, {Ink::green, U'P'}, {Ink::sky, U'D'}};

class MeshPanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Ranks"; }
    [[nodiscard]] std::string hints() const override { return "arrows GPU"; }
    [[nodiscard]] Table table(const Prediction& prediction) const override
    {
        return view::RankMesh(prediction.plan).table();
    }
    [[nodiscard]] Picture picture(const Prediction& prediction) const override
    {
        return Picture([chart = Chart(view::mesh_chart(prediction.plan))] { return chart; });
    }

    void draw(Canvas& canvas, const Rect& place, const Prediction& p, bool focused, const Look& look) override
    {
        const view::RankMesh mesh(p.plan);
        if (mesh.ranks() == 0) {
            canvas.text(place.row, place.column, "the degrees do not make up the GPUs", kMuted);
            return;
        }
        chosen_ = std::clamp(chosen_, 0, mesh.ranks() - 1);
        std::map<int, Fill> marked;
        int legend = 0; // columns
        for (const Dimension dimension : {Dimension::dp, Dimension::pp, Dimension::cp, Dimension::tp}) {
            if (mesh.layout().degree(dimension) > 1)
                legend += 4 + width_of(view::dimension_label(dimension));
        }
        const std::string order = mesh.order_text() + ", innermost first";
        const bool fits = width_of(order) + 3 + legend <= place.columns + 2; // nothing behind the last one
        int column = canvas.text(place.row, place.column, (fits ? order : mesh.order_text()) + "   ", kMuted);
        for (const Dimension dimension : {Dimension::dp, Dimension::pp, Dimension::cp, Dimension::tp}) {
            if (mesh.layout().degree(dimension) == 1)
                continue;
            const Fill& fill = kDimensionFills[static_cast<int>(dimension)];
            for (const int rank : mesh.group(chosen_, dimension))
                marked[rank] = fill;
            column = draw_legend(canvas, place.row, column, fill, view::dimension_label(dimension), look);
        }
        const std::vector<std::string> lines = focused ? mesh.describe(chosen_) : mesh.describe_groups();
        const int said = std::min<int>(static_cast<int>(lines.size()), std::max(1, place.rows / 3));
        const int rows = std::max(1, place.rows - 1 - said);
        // Whole nodes side by side, as many as have room.
        per_node_ = mesh.per_node();
        const int node_columns = 2 * std::min(per_node_, std::max(1, (place.columns - 6) / 2)) + 6;
        across_ = std::max(1, place.columns / node_columns);
        const int needed = (mesh.nodes() + across_ - 1) / across_;
        top_ = std::clamp(top_, mesh.node_of(chosen_) / across_ - rows + 1, mesh.node_of(chosen_) / across_);
        top_ = std::clamp(top_, 0, std::max(0, needed - rows));
        gpus_ = {place.row + 1, place.column, rows, across_ * node_columns};
        node_columns_ = node_columns;
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < across_; ++j) {
                const int node = (top_ + i) * across_ + j;
                if (node >= mesh.nodes())
                    break;
                const int row = place.row + 1 + i, begin = place.column + j * node_columns;
                canvas.text_in(row, begin, 5, std::to_string(node), kMuted, true);
                for (int local = 0; local < per_node_ && 2 * local + 6 < node_columns; ++local) {
                    const int rank = node * per_node_ + local, at = begin + 6 + 2 * local;
                    if (rank >= mesh.ranks())
                        break;
                    const auto mark = marked.find(rank);
                    if (rank == chosen_ && focused)
                        canvas.put(row, at, U'\u25a0', {Ink::bad, Ink::normal, true});
                    else if (mark == marked.end())
                        canvas.put(row, at, U'\u00b7', kMuted);
                    else if (look.colors && !look.few)
                        canvas.put(row, at, U'\u25a0', {mark->second.ink});
                    else
                        put_fill(canvas, row, at, mark->second, look);
                }
            }
        }
        for (int i = 0; i < said; ++i)
            canvas.text_in(place.row + 1 + std::min(rows, needed) + i, place.column, place.columns,
                lines[static_cast<std::size_t>(i)]);
    }
    [[nodiscard]] std::vector<std::string> said(const Prediction& p) override
    {
        const view::RankMesh mesh(p.plan);
        return mesh.ranks() == 0 ? std::vector<std::string>() : mesh.describe(std::clamp(chosen_, 0, mesh.ranks() - 1));
    }
    bool key(const Key& key, const Prediction& p) override
    {
        const int before = chosen_;
        if (key.code == Key::click)
            chosen_ = rank_at(key).value_or(chosen_);
        else if (key.code == Key::left || key.is('h'))
            --chosen_;
        else if (key.code == Key::right || key.is('l'))
            ++chosen_;
        else if (key.code == Key::up || key.is('k'))
            chosen_ -= across_ * per_node_;
        else if (key.code == Key::down || key.is('j'))
            chosen_ += across_ * per_node_;
        else
            return false;
        if (chosen_ < 0 || chosen_ >= p.plan.gpus)
            chosen_ = before;
        return true;
    }

private:
    [[nodiscard]] std::optional<int> rank_at(const Key& key) const
    {
        if (!gpus_.contains(key.row, key.column))
            return {};
        const int along = key.column - gpus_.column, local = (along % node_columns_ - 6) / 2;
        const int node = (top_ + key.row - gpus_.row) * across_ + along / node_columns_;
        if (along % node_columns_ < 6 || local >= per_node_)
            return {};
        return node * per_node_ + local;
    }

    int chosen_ = 0, top_ = 0, across_ = 1, per_node_ = 1;
    Rect gpus_; // as drawn last, of so many columns a node
    int node_columns_ = 8;
};
} // namespace

std::unique_ptr<Panel> make_mesh_panel(Desk& desk)
{
    return std::make_unique<MeshPanel>(desk);
}

} // namespace fourfold::tui
