// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPU of which node is which tp, cp, pp, dp, and who belongs to its groups: the layout's own mesh algebra in
// the words of a picture.
#pragma once

#include "core/plan/plan.h"
#include "core/report/table/table.h"

#include <string>
#include <vector>

namespace fourfold::view {

class RankMesh {
public:
    RankMesh() = default;
    explicit RankMesh(const ResolvedPlan& plan);

    [[nodiscard]] int ranks() const { return ranks_; } // 0: nothing to show
    [[nodiscard]] int nodes() const;
    [[nodiscard]] int per_node() const { return per_node_; }
    [[nodiscard]] int node_of(int rank) const { return rank / per_node_; }
    [[nodiscard]] int local_of(int rank) const { return rank % per_node_; }
    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] Coordinates at(int rank) const { return layout_.coordinates(rank); }
    // The ranks of the group of `rank` along a dimension, itself among them.
    [[nodiscard]] std::vector<int> group(int rank, Dimension dimension) const;

    // "TP > DP > PP" with arrows, innermost first.
    [[nodiscard]] std::string order_text() const;
    // "GPU 5: GPU 5 of node 0" and one line per group: "TP 1 of 2: GPUs 4 and 5, inside the node".
    [[nodiscard]] std::vector<std::string> describe(int rank) const;
    // The same of every group of a kind: "TP groups: 2 GPUs each, inside a node".
    [[nodiscard]] std::vector<std::string> describe_groups() const;
    // One row per rank; at most `most` of them.
    [[nodiscard]] Table table(int most = 65'536) const;

private:
    [[nodiscard]] std::size_t nodes_of(const std::vector<int>& ranks) const;

    Layout layout_;
    int ranks_ = 0, per_node_ = 1;
};

std::string dimension_label(Dimension dimension); // "TP"

} // namespace fourfold::view
