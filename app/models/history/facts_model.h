// SPDX-License-Identifier: GPL-3.0-or-later
// The facts of one stored run in two columns, under headings.
#pragma once

#include "app/models/shared/columns_model.h"
#include "app/view/history/run_facts.h"

namespace fourfold::ui {

class FactsModel : public ColumnsModel {
    Q_OBJECT
public:
    enum Column { fact, value, columns };
    static constexpr int HeadingRole = Qt::UserRole; // bool: the row is a heading

    explicit FactsModel(QObject* parent = nullptr);
    void show(std::vector<view::RunFact> facts);

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_facts.size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    std::vector<view::RunFact> m_facts;
};

} // namespace fourfold::ui
