// SPDX-License-Identifier: GPL-3.0-or-later
// The window's commands: the menus, what they do, and their keys. A command's id is what the session stores its keys
// under: it stays when the words of the menu change.
#pragma once

#include <QKeySequence>
#include <QObject>

#include <functional>
#include <map>
#include <vector>

class QAction;
class QMenu;

namespace fourfold {
class Presets;
}

namespace fourfold::ui {

class MainWindow;

inline constexpr const char* kFindCommand = "edit.find-a-setting-or-command";
inline constexpr const char* kSearchCommand = "search.search-layouts-of-this-plan";
inline constexpr const char* kRunCommand = "run.run-this-plan";
QString commandOfPage(int index); // shows the page

class WindowCommands : public QObject {
    Q_OBJECT
public:
    // Fills the menus of `window`, which outlives this.
    explicit WindowCommands(MainWindow& window, const Presets& presets);
    [[nodiscard]] QAction* action(const QString& id) const;
    void showRecent(); // the files of the session
    void showProject(); // what belongs to the one that is open, and the projects of the session
    void showIcons(); // in the colours of now
    void showKeys(); // wherever they are named

private:
    struct Entry {
        const char* id = nullptr; // none: a separator
        QString text;
        std::function<void()> run;
        QList<QKeySequence> keys = {};
        const char* icon = nullptr;
    };
    QMenu* addMenu(const QString& title, const std::vector<Entry>& entries);
    void add(QMenu& menu, const std::vector<Entry>& entries);
    void addFileMenu(const Presets& presets);
    void addProjectMenu(QMenu& file);
    void addViewMenu();
    void connectUndo();
    void restoreKeys();
    void showUndoTips();

    MainWindow& m_window;
    QMenu *m_recent = nullptr, *m_recentProjects = nullptr, *m_projectPlans = nullptr;
    std::map<QString, QAction*> m_actions; // by id
    std::map<QAction*, QString> m_icons;
};

} // namespace fourfold::ui
