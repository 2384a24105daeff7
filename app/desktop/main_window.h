// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: modes as pages, file and edit actions, session. What the pages show is their own business.
#pragma once

#include "app/desktop/session.h"
#include "app/models/live_run.h"
#include "app/models/plan_document.h"

#include <QMainWindow>

#include <filesystem>
#include <vector>

class QAction;
class QLabel;
class QMenu;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace fourfold::ui {

class HistoryPage;
class PlanPage;
class RunsPage;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    enum class Page { plan, runs, history };

    struct Options {
        std::filesystem::path trainer; // empty: beside this program
        std::filesystem::path history; // empty: the user's
        bool session = true; // restore and store window and last plan
    };

    // `presets` outlives the window.
    MainWindow(const Presets& presets, Options options);
    ~MainWindow() override;

    // Shows the plan of the session, else the example that runs on this computer.
    void openStartPlan();
    // Asks before changes are lost. False: cancelled, or the file is unusable, which was said.
    bool openPlan(const std::filesystem::path& file);
    bool savePlan();
    bool savePlanAs(const std::filesystem::path& file);
    bool importModel(const std::filesystem::path& config);
    void showPage(Page page);
    [[nodiscard]] Page page() const;
    void setTheme(ThemeChoice choice);

    PlanDocument& document() { return m_document; }
    RunController& controller() { return m_controller; }
    LiveRun& liveRun() { return m_live; }
    PlanPage& planPage() { return *m_plan; }
    RunsPage& runsPage() { return *m_runs; }
    HistoryPage& historyPage() { return *m_history; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    // main_window_actions.cpp
    void makeActions();
    void makeToolBar();
    void makeMenus();
    void makeViewMenu();
    void makeStatusBar();
    void showIcons();
    // main_window.cpp
    bool mayLoseChanges();
    void newPlan();
    void openExample(const QString& id);
    void askOpen();
    bool askSaveAs();
    void askImport();
    void askExportTimeline();
    void showRecent();
    void showTitle();
    void showStatus();
    void rememberFile();
    void runEnded(const QString& runId);

    const Presets& m_presets;
    Options m_options;
    Session m_session;
    PlanDocument m_document;
    RunController m_controller;
    LiveRun m_live;

    QStackedWidget* m_pages;
    PlanPage* m_plan;
    RunsPage* m_runs;
    HistoryPage* m_history;
    QTabBar* m_modes = nullptr;
    QPushButton* m_run = nullptr;
    QAction* m_runAction = nullptr; // holds m_run in the tool bar
    QMenu* m_recent = nullptr;
    QLabel *m_evaluated = nullptr, *m_evidence = nullptr;
    struct IconAction {
        QAction* action;
        QString icon;
    };
    std::vector<IconAction> m_icons;
    QAction *m_newAction = nullptr, *m_openAction = nullptr, *m_saveAction = nullptr, *m_saveAsAction = nullptr,
            *m_undoAction = nullptr, *m_redoAction = nullptr;
};

} // namespace fourfold::ui
