// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/facts_model.h"

#include "app/models/shared/text.h"

#include <QFont>

namespace fourfold::ui {

namespace {
constexpr ColumnsModel::Column kFactColumns[]{{"fact"}, {"value"}}; // the view has no headings
} // namespace

FactsModel::FactsModel(QObject* parent)
    : ColumnsModel(kFactColumns, parent)
{
}

void FactsModel::show(std::vector<view::RunFact> facts)
{
    beginResetModel();
    m_facts = std::move(facts);
    endResetModel();
}

QVariant FactsModel::cell(int row, int column, int role) const
{
    const view::RunFact& at = m_facts[static_cast<std::size_t>(row)];
    switch (role) {
    case Qt::DisplayRole:
        return fromUtf8(column == fact ? at.fact : at.value);
    case Qt::ToolTipRole:
        return fromUtf8(at.value);
    case Qt::FontRole: {
        QFont font;
        font.setWeight(at.is_heading ? QFont::DemiBold : QFont::Normal);
        return font;
    }
    case HeadingRole:
        return at.is_heading;
    default:
        return {};
    }
}

} // namespace fourfold::ui
