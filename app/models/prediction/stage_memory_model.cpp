// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/prediction/stage_memory_model.h"

#include "app/models/shared/text.h"

#include <algorithm>

namespace fourfold::ui {

void StageMemoryModel::show(const Prediction& prediction)
{
    beginResetModel();
    m_stages = prediction.memory_by_stage;
    const auto fullest = std::max_element(m_stages.begin(), m_stages.end(),
        [](const StageMemory& a, const StageMemory& b) { return a.total() < b.total(); });
    m_fullest = fullest == m_stages.end() ? -1 : static_cast<int>(fullest - m_stages.begin());
    m_limits.usable = prediction.memory_capacity_gib;
    m_limits.device = prediction.memory_device_gib.value_or(0);
    m_limits.gpu = fromUtf8(prediction.plan.cluster.gpu.name);
    endResetModel();
}

double StageMemoryModel::value(int stageIndex, Column column) const
{
    const StageMemory& at = m_stages.at(static_cast<std::size_t>(stageIndex));
    switch (column) {
    case stage:
        return at.stage;
    case weights:
        return at.weights;
    case gradients:
        return at.gradients;
    case optimizer:
        return at.optimizer;
    case activations:
        return at.activations;
    case other:
        return at.other;
    default:
        return at.total();
    }
}

int StageMemoryModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_stages.size());
}

int StageMemoryModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : columns;
}

QVariant StageMemoryModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const double number = value(index.row(), static_cast<Column>(index.column()));
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == stage ? QString::number(index.row()) : gib(number);
    case ValueRole:
        return number;
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    default:
        return {};
    }
}

QVariant StageMemoryModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case stage:
        return tr("Stage");
    case weights:
        return tr("Weights");
    case gradients:
        return tr("Gradients");
    case optimizer:
        return tr("Optimizer");
    case activations:
        return tr("Activations");
    case other:
        return tr("Buffers");
    case total:
        return tr("Total GiB");
    default:
        return {};
    }
}

} // namespace fourfold::ui
