// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPU of which node is which tp, cp, pp, dp, and who belongs to its groups: the layout's own mesh algebra in
// the words of a picture.
#pragma once

#include "core/plan/plan.h"
#include "core/report/table/table.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace fourfold::ui {

class RankMesh {
public:
    RankMesh() = default;
    explicit RankMesh(const ResolvedPlan& plan);

    [[nodiscard]] int ranks() const { return m_ranks; } // 0: nothing to show
    [[nodiscard]] int nodes() const;
    [[nodiscard]] int perNode() const { return m_perNode; }
    [[nodiscard]] int nodeOf(int rank) const { return rank / m_perNode; }
    [[nodiscard]] int localOf(int rank) const { return rank % m_perNode; }
    [[nodiscard]] const Layout& layout() const { return m_layout; }
    [[nodiscard]] Coordinates at(int rank) const { return m_layout.coordinates(rank); }
    // The ranks of the group of `rank` along a dimension, itself among them.
    [[nodiscard]] std::vector<int> group(int rank, Dimension dimension) const;

    // "TP > DP > PP", innermost first.
    [[nodiscard]] QString orderText() const;
    // "GPU 5: node 0, GPU 5 of it" and one line per group: "TP 1 of 2: GPUs 4 and 5, inside the node".
    [[nodiscard]] QStringList describe(int rank) const;
    // The same of every group of a kind: "TP groups: 2 GPUs each, inside a node".
    [[nodiscard]] QStringList describeGroups() const;
    // One row per rank; at most `most` of them.
    [[nodiscard]] Table table(int most = 65'536) const;

private:
    [[nodiscard]] std::size_t nodesOf(const std::vector<int>& ranks) const;

    Layout m_layout;
    int m_ranks = 0, m_perNode = 1;
};

QString dimensionLabel(Dimension dimension); // "TP"

} // namespace fourfold::ui
