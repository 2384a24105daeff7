// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of every pipeline stage as a table: one row per stage, GiB per GPU. Feeds the bars and their "as table" view.
#pragma once

#include "core/predict/prediction.h"

#include <QAbstractTableModel>

namespace fourfold::ui {

class StageMemoryModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { stage, weights, gradients, optimizer, activations, other, total, columns };
    static constexpr int kParts = other - weights + 1;
    static constexpr int ValueRole = Qt::UserRole; // double, GiB

    // What the bars are measured against, GiB per GPU.
    struct Limits {
        double usable = 0; // capacity that decides whether the plan fits
        double device
            = 0; // memory_device_gib of the fullest stage: the figure plus context and communicators; 0 = unknown
        QString gpu;
    };

    using QAbstractTableModel::QAbstractTableModel;
    void show(const Prediction& prediction);
    [[nodiscard]] double value(int stage, Column column) const;
    [[nodiscard]] int fullestStage() const { return m_fullest; } // -1 when empty
    [[nodiscard]] const Limits& limits() const { return m_limits; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<StageMemory> m_stages;
    Limits m_limits;
    int m_fullest = -1;
};

} // namespace fourfold::ui
