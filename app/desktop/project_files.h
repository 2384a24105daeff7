// SPDX-License-Identifier: GPL-3.0-or-later
// The open project, if there is one: its plans are the open plans; its file follows what is open, compared and kept
// by name, a moment after each change.
#pragma once

#include "app/models/plan/plan_tabs.h"
#include "app/view/project/open_project.h"

#include <QFileSystemWatcher>
#include <QTimer>

#include <filesystem>
#include <optional>
#include <vector>

class QWidget;

namespace fourfold::ui {

class Banner;
class ComparePage;
class PlanFiles;
struct Session;

class ProjectFiles : public QObject {
    Q_OBJECT
public:
    struct Parts {
        PlanTabs& plans;
        PlanFiles& files;
        ComparePage& compare;
        Session& session;
        Banner& banner;
    };
    // All outlive this; `window` is the parent, of dialogs too.
    ProjectFiles(const Parts& parts, QWidget* window);
    ~ProjectFiles() override;

    [[nodiscard]] const view::Project* project() const { return m_project ? &m_project->project() : nullptr; }
    [[nodiscard]] QString name() const; // empty: no project is open
    // Its plans that lie in the folder and are not open.
    [[nodiscard]] std::vector<std::filesystem::path> closedPlans() const;

    // Its plans instead of the open ones; asks before changes are lost. False: the project is unusable, which was said,
    // or the user would rather not.
    bool open(const std::filesystem::path& place);
    // The project of the session. False: there is none, or it is gone, which was said.
    bool openOfSession();
    void showComparison(); // of the project, after the pages have theirs of the session
    // A project of a folder that is none yet. The open plans stay; those that are files belong to it.
    bool create(const std::filesystem::path& folder);
    bool saveAll(); // every plan, and the project's file
    bool close();
    void keep(); // into its file, at once
    void look(); // where somebody else wrote the file

    void askOpen();
    void askNew();
    void askNotes();

signals:
    void changed(); // another project, its name, or what its folder holds
    void message(const QString& text); // for the status bar

private:
    void adopt(view::Project project);
    void openPlans(); // of the project, instead of the open ones
    [[nodiscard]] view::OpenProject::Here here(const view::Project& project) const;
    void act(const view::OpenProject::Told& told);
    void watch();
    void offerChanged();
    void leave();

    Parts m_parts;
    QWidget* m_window;
    std::optional<view::OpenProject> m_project;
    QFileSystemWatcher m_watcher;
    QTimer m_later; // several changes are one write
    QTimer m_settled; // who replaces a file writes it in steps
    bool m_isOpening = false; // what changes meanwhile is the project's own doing
};

} // namespace fourfold::ui
