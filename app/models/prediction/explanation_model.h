// SPDX-License-Identifier: GPL-3.0-or-later
// The derivation of a figure as a tree: what it is made of, its value, how it follows, and from which source.
#pragma once

#include "core/predict/explain.h"

#include <QAbstractItemModel>

#include <memory>

namespace fourfold::ui {

class ExplanationModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { quantity, value, how, source, columns };

    using QAbstractItemModel::QAbstractItemModel;
    void show(Explanation explanation);
    [[nodiscard]] const Explanation& root() const { return m_root; }

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    // The tree once more with the way up, which an index needs.
    struct Node {
        const Explanation* explanation = nullptr;
        const Node* parent = nullptr;
        int row = 0;
        std::vector<std::unique_ptr<Node>> children;
    };
    static std::unique_ptr<Node> mirror(const Explanation& explanation, const Node* parent, int row);
    [[nodiscard]] const Node* nodeOf(const QModelIndex& index) const;

    Explanation m_root;
    std::unique_ptr<Node> m_tree; // null before the first show(); the figure itself is the only top row
};

// "8.34 s", "56.7 GiB", "42.0 %"; a dash for what is not known.
QString explainedValue(const Explanation& explanation);
// The child that is called `part` (any case), the explanation itself for an empty one; null where there is none.
const Explanation* explanationAt(const Explanation& explanation, const QString& part);
// A few lines for a tool tip: formula and parts.
QString explainedSummary(const Explanation& explanation);

} // namespace fourfold::ui
