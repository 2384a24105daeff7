// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: what ties pages, commands, files and the session together.
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

class QDialog;

namespace fourfold::ui {

class Banner;
class ComparePage;
class HistoryPage;
class PageStack;
class PlanFiles;
class PlanJournal;
class PlanPage;
class PlanWorkspace;
class ProjectFiles;
class RunsPage;
class SearchPage;
class WindowCommands;
class WindowStatus;
class WindowToolBar;
struct SettingsPlace;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
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
    bool savePlanAs(const std::filesystem::path& file);
    bool importModel(const std::filesystem::path& config);
    void showPage(const QString& id); // of pageList(); any other changes nothing
    [[nodiscard]] QString page() const;
    void searchLayouts(); // of the current plan
    void setTheme(ThemeChoice choice);
    void setUiZoom(int percent);
    void restoreDefaultLayout();
    void findCommand(); // the command finder
    SettingsPlace settingsOf(const QString& page); // what the finder offers of it
    void showKeysDialog();
    void showOpenPlans(); // beside the window; it stays
    void say(const QString& text); // in the status bar

    // True when the window was closed over a run that goes on on its nodes: see RunController::leaveBehind().
    [[nodiscard]] bool leftRunBehind() const { return m_leftRun; }

    PlanTabs& plans() { return m_plans; }
    KeyBindings& keys() { return m_keys; }
    PlanDocument& document() { return m_plans.current(); }
    RunController& controller() { return m_controller; }
    LiveRun& liveRun() { return m_live; }
    Banner& banner() { return *m_banner; }
    PlanFiles& files() { return *m_files; }
    ProjectFiles& projects() { return *m_projects; }
    [[nodiscard]] const Session& session() const { return m_session; }
    void keepLayoutOf(QDialog& dialog); // which has just been made: it looks as it did when it was last closed
    [[nodiscard]] PageStack& pages() const { return *m_pages; }
    [[nodiscard]] PlanWorkspace& workspace() const;
    [[nodiscard]] PlanPage& planPage() const;
    [[nodiscard]] SearchPage& searchPage() const;
    [[nodiscard]] ComparePage& comparePage() const;
    [[nodiscard]] RunsPage& runsPage() const;
    [[nodiscard]] HistoryPage& historyPage() const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void connectParts();
    void connectPages();
    void showDocument(); // another plan is current, or its title changed
    void saveSession();
    void offerRunsUnderWay();
    void offerPreset(const QString& field, const QString& id, const QString& text, const QString& step);

    Options m_options;
    Session m_session;
    QTimer m_saveSession;
    bool m_isStarted = false; // the stored session is open: a new one may take its place
    PlanTabs m_plans;
    KeyBindings m_keys;
    RunController m_controller;
    LiveRun m_live;
    std::unique_ptr<PlanJournal> m_journal; // none without a session

    QSize m_unzoomed; // of the window before its zoom was raised over 100 %
    Banner* m_banner;
    PageStack* m_pages;
    PlanFiles* m_files;
    ProjectFiles* m_projects;
    std::unique_ptr<WindowCommands> m_commands;
    WindowToolBar* m_toolBar = nullptr;
    WindowStatus* m_status = nullptr;
    bool m_leftRun = false;
};

} // namespace fourfold::ui
