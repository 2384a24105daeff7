// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/prediction/explanation_model.h"

#include "app/models/shared/text.h"
#include "app/view/prediction/derivation.h"

namespace fourfold::ui {

namespace {
QList<QStandardItem*> derivationRow(const Explanation& explanation)
{
    QList<QStandardItem*> row;
    for (const QString& text : {fromUtf8(explanation.label), explainedValue(explanation), fromUtf8(explanation.formula),
             fromUtf8(explanation.source)}) {
        row << new QStandardItem(text);
        row.back()->setToolTip(text);
        row.back()->setEditable(false);
    }
    row[ExplanationModel::value]->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    for (const Explanation& child : explanation.children)
        row.front()->appendRow(derivationRow(child));
    return row;
}
} // namespace

QString explainedValue(const Explanation& explanation)
{
    return fromUtf8(view::explained_value(explanation));
}

const Explanation* explanationAt(const Explanation& explanation, const QString& part)
{
    if (part.isEmpty())
        return &explanation;
    for (const Explanation& child : explanation.children) {
        if (fromUtf8(child.label).compare(part, Qt::CaseInsensitive) == 0)
            return &child;
    }
    return nullptr;
}

QString explainedSummary(const Explanation& explanation)
{
    return fromUtf8(view::explained_summary(explanation));
}

void ExplanationModel::show(Explanation explanation, const std::optional<Explanation>& sure)
{
    m_root = std::move(explanation);
    clear();
    setHorizontalHeaderLabels({tr("Quantity"), tr("Value"), tr("How"), tr("Source")});
    appendRow(derivationRow(m_root));
    if (sure)
        appendRow(derivationRow(*sure));
}

} // namespace fourfold::ui
