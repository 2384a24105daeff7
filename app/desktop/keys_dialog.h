// SPDX-License-Identifier: GPL-3.0-or-later
// What the keyboard does: the commands, whose keys can be changed here, and the keys of pictures and tables.
#pragma once

#include "app/models/shared/key_bindings.h"

#include <QDialog>

class QKeySequenceEdit;
class QLabel;
class QPushButton;

namespace fourfold::ui {

class DataTable;

class KeysDialog : public QDialog {
    Q_OBJECT
public:
    // `keys` outlives it; what is changed holds at once.
    KeysDialog(KeyBindings& keys, QWidget* parent);

private:
    QWidget* makeCommands();
    void showChosen(const QString& said = {});
    [[nodiscard]] int row() const;

    KeyBindings& m_keys;
    DataTable* m_table;
    QKeySequenceEdit* m_edit;
    QPushButton *m_none, *m_usual, *m_allUsual;
    QLabel* m_said;
};

} // namespace fourfold::ui
