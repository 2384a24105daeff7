// SPDX-License-Identifier: GPL-3.0-or-later
// Named facts of one stored run in two columns, under headings: what was planned, what came out, on what software.
#pragma once

#include "app/models/shared/columns_model.h"
#include "core/history/store.h"

#include <vector>

namespace fourfold::ui {

class FactsModel : public ColumnsModel {
    Q_OBJECT
public:
    enum Column { fact, value, columns };
    static constexpr int HeadingRole = Qt::UserRole; // bool: the row is a heading

    explicit FactsModel(QObject* parent = nullptr);
    void show(const RunDetail& run);
    void clear();

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    struct Row {
        QString fact, value;
        bool heading = false;
    };
    void heading(const QString& text);
    void add(const QString& fact, const QString& value); // skips empty values
    void addEnd(const RunDetail& run);
    void addOutcome(const RunDetail& run);
    void addJson(const QString& title, const Json& object);

    std::vector<Row> m_rows;
};

} // namespace fourfold::ui
