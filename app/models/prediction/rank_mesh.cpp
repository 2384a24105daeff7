// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/prediction/rank_mesh.h"

#include "app/models/shared/text.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>
#include <set>

namespace fourfold::ui {

namespace {
// "4 and 5", "0, 2, 4, 6", "0, 8, 16 ... 504".
QString listed(const std::vector<int>& ranks)
{
    QStringList words;
    constexpr std::size_t kMost = 8;
    for (std::size_t i = 0; i < ranks.size() && (ranks.size() <= kMost || i < 3); ++i)
        words << QString::number(ranks[i]);
    if (ranks.size() > kMost)
        return words.join(QStringLiteral(", ")) + QStringLiteral(" \u2026 %1").arg(ranks.back());
    if (words.size() == 2)
        return words.join(tr(" and "));
    return words.join(QStringLiteral(", "));
}
} // namespace

QString dimensionLabel(Dimension dimension)
{
    return fromUtf8(name(dimension)).toUpper();
}

RankMesh::RankMesh(const ResolvedPlan& plan)
    : m_layout(plan.layout)
    , m_ranks(plan.layout.gpus() == plan.gpus ? plan.gpus : 0)
    , m_perNode(std::max(1, plan.cluster.gpus_per_node))
{
}

int RankMesh::nodes() const
{
    return (m_ranks + m_perNode - 1) / m_perNode;
}

std::vector<int> RankMesh::group(int rank, Dimension dimension) const
{
    return m_layout.group(rank, {dimension});
}

QString RankMesh::orderText() const
{
    QStringList names;
    for (const Dimension dimension : m_layout.order) {
        if (m_layout.degree(dimension) > 1)
            names << dimensionLabel(dimension);
    }
    return names.isEmpty() ? tr("one GPU") : names.join(QStringLiteral(" \u2192 "));
}

QStringList RankMesh::describe(int rank) const
{
    QStringList lines{tr("GPU %1: GPU %2 of node %3").arg(rank).arg(localOf(rank)).arg(nodeOf(rank))};
    const Coordinates at = this->at(rank);
    for (const Dimension dimension : kDimensions) {
        const int degree = m_layout.degree(dimension);
        if (degree == 1)
            continue;
        const std::vector<int> peers = group(rank, dimension);
        const std::size_t nodes = nodesOf(peers);
        lines << tr("%1 %2 of %3: GPUs %4, %5")
                     .arg(dimensionLabel(dimension))
                     .arg(at.get(dimension))
                     .arg(degree)
                     .arg(listed(peers),
                         nodes == 1 ? tr("inside the node") : tr("across %1").arg(counted(double(nodes), tr("node"))));
    }
    return lines;
}

QStringList RankMesh::describeGroups() const
{
    QStringList lines;
    for (const Dimension dimension : kDimensions) {
        const int degree = m_layout.degree(dimension);
        if (degree == 1 || m_ranks == 0)
            continue;
        const std::size_t nodes = nodesOf(group(0, dimension));
        lines << tr("%1 groups: %2 GPUs each, %3")
                     .arg(dimensionLabel(dimension), grouped(degree),
                         nodes == 1 ? tr("inside a node") : tr("across %1").arg(counted(double(nodes), tr("node"))));
    }
    return lines;
}

std::size_t RankMesh::nodesOf(const std::vector<int>& ranks) const
{
    std::set<int> nodes;
    for (const int rank : ranks)
        nodes.insert(nodeOf(rank));
    return nodes.size();
}

Table RankMesh::table(int most) const
{
    return ranks_table(m_layout, m_perNode, std::min(m_ranks, most));
}

} // namespace fourfold::ui
