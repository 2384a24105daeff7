// SPDX-License-Identifier: GPL-3.0-or-later
// The rank mesh of app/view in the window's kind of text.
#pragma once

#include "app/models/shared/text.h"
#include "app/view/prediction/rank_mesh.h"

#include <QString>
#include <QStringList>

namespace fourfold::ui {

class RankMesh : public view::RankMesh {
public:
    using view::RankMesh::RankMesh;

    // "TP > DP > PP", innermost first.
    [[nodiscard]] QString orderText() const { return fromUtf8(order_text()); }
    // "GPU 5: GPU 5 of node 0" and one line per group: "TP 1 of 2: GPUs 4 and 5, inside the node".
    [[nodiscard]] QStringList describe(int rank) const { return lines(view::RankMesh::describe(rank)); }
    // One line per group, as the first GPU has it: "TP groups: 8 GPUs each, inside a node".
    [[nodiscard]] QStringList describeGroups() const { return lines(describe_groups()); }

private:
    static QStringList lines(const std::vector<std::string>& texts)
    {
        QStringList out;
        for (const std::string& text : texts)
            out << fromUtf8(text);
        return out;
    }
};

inline QString dimensionLabel(Dimension dimension)
{
    return fromUtf8(view::dimension_label(dimension));
}

} // namespace fourfold::ui
