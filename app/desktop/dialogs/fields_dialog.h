// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of the plan's file with its value and meaning, to be set in one line: also what no page has a control
// for.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/models/shared/table_model.h"
#include "app/view/plan/any_field.h"

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;

namespace fourfold::ui {

class DataTable;

class FieldsDialog : public QDialog {
    Q_OBJECT
public:
    // `document` outlives it; what is set holds at once, as one step that can be undone. `path`: the field to begin at.
    FieldsDialog(PlanDocument& document, const std::string& path, QWidget* parent);

private:
    void showFields(); // those that have the words of the filter; the chosen one stays
    void showChosen();
    void set(const QString& text);
    [[nodiscard]] const view::AnyField* chosen() const;

    PlanDocument& m_document;
    std::vector<view::AnyField> m_fields; // on show, row by row
    TableModel m_model;
    QLineEdit* m_words;
    DataTable* m_table;
    QLineEdit* m_value;
    QPushButton *m_set, *m_usual;
    QLabel* m_said;
};

} // namespace fourfold::ui
