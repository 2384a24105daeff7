// SPDX-License-Identifier: GPL-3.0-or-later
// The command finder (Ctrl+K): a few letters, Enter, done.
#pragma once

#include "app/models/command_model.h"

#include <QDialog>

class QLineEdit;
class QListView;
class QWidget;

namespace fourfold::ui {

class CommandPalette : public QDialog {
    Q_OBJECT
public:
    CommandPalette(std::vector<Command> commands, QWidget* parent);
    [[nodiscard]] const CommandModel& model() const { return *m_model; }

    // Every enabled action of the window's menus, and every named field of `settings`, which it focuses.
    static std::vector<Command> commandsOf(QWidget* window, QWidget* settings);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void runCurrent();

    CommandModel* m_model;
    QLineEdit* m_filter;
    QListView* m_list;
    int m_chosen = -1;

public:
    // Runs what was chosen, after the dialog is gone; nothing when it was left by Escape.
    void runChosen() const;
};

} // namespace fourfold::ui
