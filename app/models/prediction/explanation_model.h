// SPDX-License-Identifier: GPL-3.0-or-later
// The derivation of a figure as a tree: what it is made of, its value, how it follows, and from which source.
#pragma once

#include "core/predict/explain.h"

#include <QStandardItemModel>

#include <optional>

namespace fourfold::ui {

class ExplanationModel : public QStandardItemModel {
    Q_OBJECT
public:
    enum Column { quantity, value, how, source, columns };

    using QStandardItemModel::QStandardItemModel;
    // The figure is the first top row; under it stands how sure it is, where that is given.
    void show(Explanation explanation, const std::optional<Explanation>& sure = {});
    [[nodiscard]] const Explanation& root() const { return m_root; }

private:
    Explanation m_root;
};

// "8.34 s", "56.7 GiB", "42.0 %"; a dash for what is not known.
QString explainedValue(const Explanation& explanation);
// The child that is called `part` (any case), the explanation itself for an empty one; null where there is none.
const Explanation* explanationAt(const Explanation& explanation, const QString& part);
// A few lines for a tool tip: formula and parts.
QString explainedSummary(const Explanation& explanation);

} // namespace fourfold::ui
