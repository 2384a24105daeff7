// SPDX-License-Identifier: GPL-3.0-or-later
// A table of the report room for a view: cells as people see them, numbers at the right.
#pragma once

#include "core/report/table/table.h"

#include <QAbstractTableModel>

namespace fourfold::ui {

class TableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit TableModel(Table table = {}, QObject* parent = nullptr);
    void show(Table table);
    [[nodiscard]] const Table& table() const { return m_table; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    Table m_table;
};

} // namespace fourfold::ui
