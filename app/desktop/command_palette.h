// SPDX-License-Identifier: GPL-3.0-or-later
// The command finder (Ctrl+K): a few letters, Enter, done.
#pragma once

#include "app/models/shared/command_model.h"

#include <QDialog>

class QLabel;
class QLineEdit;
class QListView;
class QWidget;

namespace fourfold::ui {

// A page whose settings can be found from everywhere.
struct SettingsPlace {
    QString name; // of the page, for people
    QWidget* page = nullptr;
    std::function<void()> show; // brings it to the front
};

class CommandPalette : public QDialog {
    Q_OBJECT
public:
    CommandPalette(std::vector<Command> commands, QWidget* parent);
    [[nodiscard]] const CommandModel& model() const { return *m_model; }

    // Every enabled action of the window's menus, and every named field of the places, which it shows and focuses.
    static std::vector<Command> commandsOf(QWidget* window, const std::vector<SettingsPlace>& places);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void runCurrent();
    void filter(const QString& text);

    CommandModel* m_model;
    QLineEdit* m_filter;
    QListView* m_list;
    QLabel* m_nothing;
    int m_chosen = -1;

public:
    // Runs what was chosen, after the dialog is gone; nothing when it was left by Escape.
    void runChosen() const;
};

} // namespace fourfold::ui
