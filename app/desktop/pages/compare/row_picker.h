// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows of a measured table to take: a filter by words and a list to choose from.
#pragma once

#include "core/calibration/measured_table.h"

#include <QDialog>

#include <vector>

class QListWidget;

namespace fourfold::ui {

class RowPicker : public QDialog {
    Q_OBJECT
public:
    // What exec() returns, besides Accepted and Rejected: the table as a series over GPUs.
    static constexpr int kWholeTable = 2;
    RowPicker(const MeasuredTable& table, QWidget* parent);
    // Indices into the table's rows, ascending.
    [[nodiscard]] std::vector<std::size_t> chosen() const;

private:
    void filter(const QString& text);

    QListWidget* m_list;
};

} // namespace fourfold::ui
