// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/rank_mesh.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>
#include <set>

namespace fourfold::view {

namespace {
// "4 and 5", "0, 2, 4, 6", "0, 8, 16 ... 504".
std::string listed(const std::vector<int>& ranks)
{
    std::vector<std::string> words;
    constexpr std::size_t kMost = 8;
    for (std::size_t i = 0; i < ranks.size() && (ranks.size() <= kMost || i < 3); ++i)
        words.push_back(std::to_string(ranks[i]));
    if (ranks.size() > kMost)
        return joined(words, ", ") + " \u2026 " + std::to_string(ranks.back());
    return joined(words, words.size() == 2 ? " and " : ", ");
}

std::string reach(std::size_t nodes, const char* inside)
{
    return nodes == 1 ? inside : "across " + counted(double(nodes), "node");
}
} // namespace

std::string dimension_label(Dimension dimension)
{
    return upper_case(to_text(dimension));
}

RankMesh::RankMesh(const ResolvedPlan& plan)
    : layout_(plan.layout)
    , ranks_(plan.layout.gpus() == plan.gpus ? plan.gpus : 0)
    , per_node_(std::max(1, plan.cluster.gpus_per_node))
{
}

int RankMesh::nodes() const
{
    return (ranks_ + per_node_ - 1) / per_node_;
}

std::vector<int> RankMesh::group(int rank, Dimension dimension) const
{
    return layout_.group(rank, {dimension});
}

std::string RankMesh::order_text() const
{
    std::vector<std::string> names;
    for (const Dimension dimension : layout_.order) {
        if (layout_.degree(dimension) > 1)
            names.push_back(dimension_label(dimension));
    }
    return names.empty() ? "one GPU" : joined(names, " \u2192 ");
}

std::vector<std::string> RankMesh::describe(int rank) const
{
    std::vector<std::string> lines{text_of("GPU %d: GPU %d of node %d", rank, local_of(rank), node_of(rank))};
    const Coordinates at = this->at(rank);
    for (const Dimension dimension : kDimensions) {
        const int degree = layout_.degree(dimension);
        if (degree == 1)
            continue;
        const std::vector<int> peers = group(rank, dimension);
        lines.push_back(dimension_label(dimension) + text_of(" %d of %d: GPUs ", at.get(dimension), degree)
            + listed(peers) + ", " + reach(nodes_of(peers), "inside the node"));
    }
    return lines;
}

std::vector<std::string> RankMesh::describe_groups() const
{
    std::vector<std::string> lines;
    for (const Dimension dimension : kDimensions) {
        const int degree = layout_.degree(dimension);
        if (degree == 1 || ranks_ == 0)
            continue;
        lines.push_back(dimension_label(dimension) + " groups: " + grouped(degree) + " GPUs each, "
            + reach(nodes_of(group(0, dimension)), "inside a node"));
    }
    return lines;
}

std::size_t RankMesh::nodes_of(const std::vector<int>& ranks) const
{
    std::set<int> nodes;
    for (const int rank : ranks)
        nodes.insert(node_of(rank));
    return nodes.size();
}

Table RankMesh::table(int most) const
{
    return ranks_table(layout_, per_node_, std::min(ranks_, most));
}

} // namespace fourfold::view
