// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/prediction/time_parts_model.h"

#include "app/models/shared/text.h"

namespace fourfold::ui {

namespace {
// The order in which people read a step: work, its repetition, waiting, communication, the rest.
constexpr Part kOrder[]{Part::compute, Part::recompute, Part::bubble, Part::tp, Part::cp, Part::pp, Part::dp, Part::ep,
    Part::optimizer, Part::other};
} // namespace

void TimePartsModel::show(const Prediction& prediction)
{
    beginResetModel();
    m_rows.clear();
    m_total = prediction.time_by_part.total();
    for (const Part at : kOrder) {
        const Row row{at, prediction.time_by_part[at], prediction.time_hidden[at]};
        if (row.exposed_s > 0 || row.hidden_s > 0)
            m_rows.push_back(row);
    }
    endResetModel();
}

QString TimePartsModel::label(Part part)
{
    switch (part) {
    case Part::compute:
        return tr("Compute");
    case Part::recompute:
        return tr("Recomputation");
    case Part::bubble:
        return tr("Pipeline bubble");
    case Part::tp:
        return tr("TP collectives");
    case Part::cp:
        return tr("CP exchange");
    case Part::pp:
        return tr("PP send / receive");
    case Part::dp:
        return tr("DP collectives");
    case Part::ep:
        return tr("EP all-to-all");
    case Part::optimizer:
        return tr("Optimizer");
    case Part::other:
        return tr("Other");
    }
    return {};
}

int TimePartsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TimePartsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : columns;
}

QVariant TimePartsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole)
        return QVariant((index.column() == part ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != ValueRole)
        return {};
    const bool display = role == Qt::DisplayRole;
    switch (index.column()) {
    case part:
        return display ? QVariant(label(row.part)) : QVariant(static_cast<int>(row.part));
    case exposed:
        return display ? QVariant(duration(row.exposed_s)) : QVariant(row.exposed_s);
    case hidden:
        return display ? QVariant(duration(row.hidden_s)) : QVariant(row.hidden_s);
    default: {
        const double fraction = m_total > 0 ? row.exposed_s / m_total : 0;
        return display ? QVariant(percent(fraction)) : QVariant(fraction);
    }
    }
}

QVariant TimePartsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case part:
        return tr("Part");
    case exposed:
        return tr("Exposed");
    case hidden:
        return tr("Hidden");
    case share:
        return tr("Share %");
    default:
        return {};
    }
}

} // namespace fourfold::ui
