// SPDX-License-Identifier: GPL-3.0-or-later
// Opening, saving, importing and closing plans: the questions to the user and what follows from the answers.
#pragma once

#include "app/desktop/session.h"
#include "app/models/plan/plan_journal.h"
#include "app/models/plan/plan_tabs.h"

#include <filesystem>
#include <vector>

namespace fourfold::ui {

class PlanFiles : public QObject {
    Q_OBJECT
public:
    // All outlive this; `window` is the parent of dialogs.
    PlanFiles(PlanTabs& plans, Session& session, QWidget* window);

    // The plans of the session; without any, the example that runs on this computer.
    void openSession();
    // Plans of a program that died, as tabs with unsaved changes. Returns how many.
    int restore(const std::vector<PlanJournal::Entry>& entries);
    void rememberSession(); // into the session, for its save()
    // These instead of the open plans, in their order, without asking; one that is open already stays, as its file has
    // it. Of none the example. Returns why files could not be opened, a Problem each.
    std::vector<Problem> openInstead(const std::vector<std::filesystem::path>& files);
    // Where a plan that was never saved goes, unless the user says otherwise; empty: where the program was started.
    void setFolder(const std::filesystem::path& folder) { m_folder = folder; }

    void newPlan(); // the example that runs on this computer, in a tab of its own
    void askRecommendation(); // a plan from three answers, in a tab of its own
    void duplicate(); // the current plan as an untitled one
    void openUntitled(const Plan& plan); // in a tab of its own
    void openExample(const QString& id);
    // False: the file is unusable, which was said. A plan that is open already is shown.
    bool open(const std::filesystem::path& file);
    bool save();
    bool saveAs(const std::filesystem::path& file);
    // The file's plan instead of the one in the tab; undo brings back what was there. False: it cannot be read, which
    // was said.
    bool reload(int index);
    // The file's plan in a tab of its own, beside the one in the tab.
    void openFromDisk(int index);
    bool importModel(const std::filesystem::path& config);
    bool close(int index); // asks before changes are lost
    bool mayCloseAll();

    void askOpen();
    bool askSaveAs();
    void askImport();

signals:
    void message(const QString& text); // for the status bar
    void recentChanged();
    void otherChosen(const std::filesystem::path& file); // no plan: a trace, a run, whatever can be dropped

private:
    bool mayLose(int index);
    void showUntitled(Expected<Plan> plan, const QString& problemTitle);
    void remember();

    PlanTabs& m_plans;
    Session& m_session;
    QWidget* m_window;
    std::filesystem::path m_folder;
};

} // namespace fourfold::ui
