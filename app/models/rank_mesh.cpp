// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/rank_mesh.h"

#include "app/models/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>

namespace fourfold::ui {

namespace {
QString tr(const char* text)
{
    return QCoreApplication::translate("RankMesh", text);
}

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
        std::set<int> nodes;
        for (const int peer : peers)
            nodes.insert(nodeOf(peer));
        lines << tr("%1 %2 of %3: GPUs %4, %5")
                     .arg(dimensionLabel(dimension))
                     .arg(at.get(dimension))
                     .arg(degree)
                     .arg(listed(peers),
                         nodes.size() == 1 ? tr("inside the node")
                                           : tr("across %1").arg(counted(double(nodes.size()), tr("node"))));
    }
    return lines;
}

Table RankMesh::table(int most) const
{
    Table table;
    table.columns = {{"rank", "Rank"}, {"node", "Node"}, {"gpu", "GPU of the node"}, {"tp", "TP"}, {"cp", "CP"},
        {"pp", "PP"}, {"dp", "DP"}};
    for (int rank = 0; rank < std::min(m_ranks, most); ++rank) {
        const Coordinates at = this->at(rank);
        table.rows.push_back({std::int64_t(rank), std::int64_t(nodeOf(rank)), std::int64_t(localOf(rank)),
            std::int64_t(at.tp), std::int64_t(at.cp), std::int64_t(at.pp), std::int64_t(at.dp)});
    }
    return table;
}

} // namespace fourfold::ui
