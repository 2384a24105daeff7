// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: modes as pages, actions, session. What the pages show and what files do is their own business.
#pragma once

#include "app/desktop/session.h"
#include "app/models/plan/plan_tabs.h"
#include "app/models/runs/live_run.h"
#include "app/models/shared/key_bindings.h"

#include <QMainWindow>
#include <QTimer>

#include <filesystem>
#include <memory>
#include <vector>

class QAction;
class QLabel;
class QMenu;
class QPushButton;
class QStackedWidget;
class QTabBar;
class QToolBar;

namespace fourfold::ui {

class Banner;
class ComparePage;
class HistoryPage;
class PlanFiles;
class PlanJournal;
class PlanPage;
class PlanWorkspace;
class RunsPage;
class SearchPage;
struct DroppedItem;
struct SettingsPlace;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    enum class Page { plan, search, compare, runs, history };
    // As in the session and on the command line, in the order of the modes: "plan", ...
    static const QStringList& pageNames();

    struct Options {
        std::filesystem::path trainer; // empty: beside this program
        std::filesystem::path history; // empty: the user's
        std::filesystem::path journal; // empty: the user's
        bool session = true; // restore and store window, plans and journal
    };

    // `presets` outlives the window.
    MainWindow(const Presets& presets, Options options);
    ~MainWindow() override;

    // Shows the plans of the session and what a crash left, else the example that runs on this computer.
    void openStartPlan();
    bool openPlan(const std::filesystem::path& file); // in a tab; false: the file is unusable, which was said
    void openFile(const std::filesystem::path& file); // whatever can be dropped on the window; what cannot is said
    bool savePlan();
    bool savePlanAs(const std::filesystem::path& file);
    bool importModel(const std::filesystem::path& config);
    void showPage(Page page);
    [[nodiscard]] Page page() const;
    void setTheme(ThemeChoice choice);
    void setUiZoom(int percent);
    void restoreDefaultLayout();
    void findCommand(); // the command finder
    SettingsPlace settingsOf(Page page); // what the finder offers of it
    void showKeysDialog();
    void showFocusedAsTable(); // the picture with the focus, else the first of the page

    // True when the window was closed over a run that goes on on its nodes: see RunController::leaveBehind().
    [[nodiscard]] bool leftRunBehind() const { return m_leftRun; }

    PlanTabs& plans() { return m_plans; }
    KeyBindings& keys() { return m_keys; }
    PlanDocument& document() { return m_plans.current(); }
    RunController& controller() { return m_controller; }
    LiveRun& liveRun() { return m_live; }
    Banner& banner() { return *m_banner; }
    [[nodiscard]] PlanWorkspace& workspace() const { return *m_workspace; }
    [[nodiscard]] PlanPage& planPage() const;
    SearchPage& searchPage() { return *m_search; }
    ComparePage& comparePage() { return *m_compare; }
    RunsPage& runsPage() { return *m_runs; }
    HistoryPage& historyPage() { return *m_history; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    // main_window_actions.cpp
    void makeActions();
    void makeToolBar();
    void fitToolBar();
    void showToolBarWords(bool words);
    void makeMenus();
    void makeFileMenu();
    void makeViewMenu();
    void makeStatusBar();
    void gatherKeys(); // of the menus' commands
    void showKeys(); // wherever they are named
    void showUndoTips();
    void showIcons();
    void showRecent();
    // main_window.cpp
    void connectParts();
    void askExportTimeline();
    void askExportReport();
    void take(const DroppedItem& item);
    void showDocument(); // another plan is current, or its title changed
    void showStatus();
    void saveSession();
    void runEnded(const QString& runId);
    void offerRunsUnderWay();
    void offerStack(const QString& stack, const QString& file);
    void offerCluster(const QString& cluster, const QString& file);
    void say(const QString& text);

    const Presets& m_presets;
    Options m_options;
    Session m_session;
    QTimer m_saveSession;
    bool m_isStarted = false; // the stored session is open: a new one may take its place
    PlanTabs m_plans;
    KeyBindings m_keys;
    RunController m_controller;
    LiveRun m_live;
    std::unique_ptr<PlanJournal> m_journal; // none without a session

    Banner* m_banner;
    QStackedWidget* m_pages;
    PlanWorkspace* m_workspace;
    SearchPage* m_search;
    ComparePage* m_compare;
    RunsPage* m_runs;
    HistoryPage* m_history;
    PlanFiles* m_files;
    QToolBar* m_toolBar = nullptr;
    QTabBar* m_modes = nullptr;
    QPushButton *m_run = nullptr, *m_find = nullptr, *m_searchLayouts = nullptr;
    int m_wordyWidth = 0; // of the window from which on the tool bar has room for its words; 0: not known
    QAction *m_runAction = nullptr, *m_searchAction = nullptr; // hold their buttons in the tool bar
    QMenu* m_recent = nullptr;
    QLabel *m_evaluated = nullptr, *m_evidence = nullptr;
    QMetaObject::Connection m_statusConnection;
    struct IconAction {
        QAction* action;
        QString icon;
    };
    std::vector<IconAction> m_icons;
    bool m_leftRun = false;
    QAction *m_newAction = nullptr, *m_openAction = nullptr, *m_saveAction = nullptr, *m_saveAsAction = nullptr,
            *m_undoAction = nullptr, *m_redoAction = nullptr;
};

} // namespace fourfold::ui
