// SPDX-License-Identifier: GPL-3.0-or-later
// Where the step time goes: one row per part that takes time, exposed (rows add up to the step) and hidden behind
// compute.
#pragma once

#include "core/predict/prediction.h"

#include <QAbstractTableModel>

namespace fourfold::ui {

class TimePartsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { part, exposed, hidden, share, columns };
    static constexpr int ValueRole = Qt::UserRole; // double: seconds; of `share` a fraction

    struct Row {
        Part part = Part::compute;
        double exposed_s = 0, hidden_s = 0;
    };

    using QAbstractTableModel::QAbstractTableModel;
    void show(const Prediction& prediction);
    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; }
    [[nodiscard]] double total() const { return m_total; } // seconds, the sum of the exposed parts
    static QString label(Part part);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Row> m_rows;
    double m_total = 0;
};

} // namespace fourfold::ui
