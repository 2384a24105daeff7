// SPDX-License-Identifier: GPL-3.0-or-later
// A table model as the list of its columns: what each is called, how wide it is, on which side its cells stand. What is
// left to a model are its rows and what a cell of them says.
#pragma once

#include <QAbstractTableModel>

#include <span>

namespace fourfold::ui {

class ColumnsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    struct Column {
        const char* title; // to be translated in the model's context; '\n' between two lines
        int width = 0; // at 100 % zoom; 0: as the view has it
        Qt::Alignment side = Qt::AlignLeft;
        const char* about = ""; // what it holds, for who rests the pointer on the heading; to be translated as well
    };

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : rows(); }
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const final;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

protected:
    // `columns` outlives the model.
    explicit ColumnsModel(std::span<const Column> columns, QObject* parent = nullptr)
        : QAbstractTableModel(parent)
        , m_columns(columns)
    {
    }
    static QList<int> widthsOf(std::span<const Column> columns);
    [[nodiscard]] virtual int rows() const = 0;
    // What a cell has for a role; both are inside the table, and the side is the column's.
    [[nodiscard]] virtual QVariant cell(int row, int column, int role) const = 0;
    void allChanged(); // what the cells say

private:
    std::span<const Column> m_columns;
};

} // namespace fourfold::ui
