// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/project_files.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/notes_dialog.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/compare_sets.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/session.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/tables/table_views.h"
#include "app/models/compare/comparison_state.h"
#include "app/models/shared/text.h"

#include <QFileDialog>

#include <algorithm>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kKeepMilliseconds = 1'000; // from a change to its being in the file
constexpr int kSettleMilliseconds = 150;
} // namespace

ProjectFiles::ProjectFiles(const Parts& parts, QWidget* window)
    : QObject(window)
    , m_parts(parts)
    , m_window(window)
{
    m_later.setSingleShot(true);
    m_later.setInterval(kKeepMilliseconds);
    m_settled.setSingleShot(true);
    m_settled.setInterval(kSettleMilliseconds);
    connect(&m_later, &QTimer::timeout, this, &ProjectFiles::keep);
    connect(&m_settled, &QTimer::timeout, this, &ProjectFiles::look);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_settled, qOverload<>(&QTimer::start));
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_settled, qOverload<>(&QTimer::start));
    const auto later = [this] {
        if (m_project && !m_isOpening)
            m_later.start();
    };
    connect(&parts.plans, &PlanTabs::added, this, later);
    connect(&parts.plans, &PlanTabs::removed, this, later);
    connect(&parts.plans, &PlanTabs::moved, this, later);
    connect(&parts.plans, &PlanTabs::titleChanged, this, later); // its file, too
    connect(&parts.compare.sets(), &CompareSets::changed, this, later);
}

ProjectFiles::~ProjectFiles()
{
    keepViewsIn({});
}

QString ProjectFiles::name() const
{
    return m_project ? fromUtf8(project()->name()) : QString();
}

std::vector<std::filesystem::path> ProjectFiles::closedPlans() const
{
    std::vector<std::filesystem::path> closed;
    if (m_project)
        closed = view::plans_of_folder(project()->folder());
    std::erase_if(closed, [this](const std::filesystem::path& file) { return m_parts.plans.indexOf(file) >= 0; });
    return closed;
}

bool ProjectFiles::open(const std::filesystem::path& place)
{
    Expected<view::Project> project = view::Project::open(place);
    if (!succeeded(m_window, tr("The project cannot be opened"), project) || !m_parts.files.mayCloseAll())
        return false;
    if (m_project && m_project->project().folder() != project->folder())
        keep();
    adopt(*std::move(project));
    openPlans();
    showComparison();
    return true;
}

bool ProjectFiles::openOfSession()
{
    if (m_parts.session.project.isEmpty())
        return false;
    Expected<view::Project> project = view::Project::open(m_parts.session.project.toStdString());
    if (project) {
        adopt(*std::move(project));
        openPlans();
        return true;
    }
    m_parts.banner.say(
        Tone::warning, tr("The project of last time cannot be opened: %1").arg(fromUtf8(project.error().line())));
    m_parts.session.project.clear();
    return false;
}

bool ProjectFiles::create(const std::filesystem::path& folder)
{
    Expected<view::Project> project = view::Project::create(folder);
    if (!succeeded(m_window, tr("The project cannot be made"), project))
        return false;
    keep(); // the one that was open
    adopt(*std::move(project));
    keep();
    return true;
}

void ProjectFiles::adopt(view::Project project)
{
    m_later.stop();
    m_project.emplace(std::move(project), [this](const view::Project& of) { return here(of); });
    view::Project& open = m_project->project();
    m_parts.session.addRecentProject(exactText(open.folder().string()));
    m_parts.files.setFolder(open.folder());
    keepViewsIn(open.views([this] { keep(); }));
    watch();
    emit changed();
}

// Only when all of them are open the file may follow what is open.
void ProjectFiles::openPlans()
{
    m_isOpening = true;
    const std::vector<Problem> problems = m_project->open_plans(
        [this](const std::vector<std::filesystem::path>& files) { return m_parts.files.openInstead(files); },
        [this](const std::filesystem::path& file) { return m_parts.plans.indexOf(file) >= 0; });
    m_isOpening = false;
    if (!problems.empty())
        m_parts.banner.say(Tone::warning,
            tr("%1 of project %2 cannot be opened: %3")
                .arg(counted(double(problems.size()), tr("plan")), name(), fromUtf8(problems.front().line())));
    emit changed();
}

void ProjectFiles::showComparison()
{
    if (!m_project)
        return;
    const std::filesystem::path& folder = project()->folder();
    QVariantMap sets;
    const Json kept = project()->object_part(view::kComparisonsPart);
    for (const auto& [name, set] : kept.items())
        sets.insert(exactText(name), compared::fromJson(set, folder));
    m_parts.compare.sets().set(sets);
    m_parts.compare.setComparison(compared::fromJson(project()->part(view::kComparisonPart), folder));
}

view::OpenProject::Here ProjectFiles::here(const view::Project& project) const
{
    view::OpenProject::Here here;
    for (int i = 0; i < m_parts.plans.count(); ++i) {
        const auto& plan = m_parts.plans.document(i);
        if (!plan.file().empty())
            here.plans.push_back(plan.file());
        here.has_changes = here.has_changes || plan.isDirty();
    }
    here.comparison = compared::toJson(m_parts.compare.comparison(), project.folder());
    here.comparisons = Json::object();
    const QVariantMap all = m_parts.compare.sets().all();
    for (auto set = all.begin(); set != all.end(); ++set)
        here.comparisons[set.key().toStdString()] = compared::toJson(set->toMap(), project.folder());
    return here;
}

void ProjectFiles::keep()
{
    m_later.stop();
    if (!m_project || m_isOpening)
        return;
    act(m_project->keep());
}

void ProjectFiles::act(const view::OpenProject::Told& told)
{
    using News = view::OpenProject::News;
    if (told.is_readable_again)
        m_parts.banner.hide();
    switch (told.news) {
    case News::none:
        break;
    case News::kept:
        watch();
        break;
    case News::failed:
        m_parts.banner.say(Tone::warning, tr("The project cannot be kept: %1").arg(fromUtf8(told.why)));
        break;
    case News::unreadable:
        m_parts.banner.say(
            Tone::warning, tr("The file of project %1 cannot be read: %2").arg(name(), fromUtf8(told.why)));
        break;
    case News::differs:
        offerChanged();
        break;
    case News::reload:
        open(std::filesystem::path(project()->folder()));
        break;
    }
}

void ProjectFiles::watch()
{
    if (const QStringList watched = m_watcher.files() + m_watcher.directories(); !watched.isEmpty())
        m_watcher.removePaths(watched);
    if (!m_project)
        return;
    m_watcher.addPath(exactText(project()->folder().string()));
    if (std::error_code error; std::filesystem::exists(project()->file(), error))
        m_watcher.addPath(exactText(project()->file().string()));
}

void ProjectFiles::look()
{
    if (!m_project)
        return;
    watch(); // a file that was replaced is another one to the system
    emit changed();
    act(m_project->look());
}

void ProjectFiles::offerChanged()
{
    m_parts.banner.say(Tone::warning,
        tr("The file of project %1 was changed on disk, and here there are changes too.").arg(name()),
        {{tr("Reload"),
             [this] {
                 if (m_project)
                     open(std::filesystem::path(project()->folder()));
             }},
            {tr("Keep mine"), [this] {
                 if (!m_project)
                     return;
                 m_project->project().keep_mine();
                 keep();
             }}});
}

bool ProjectFiles::saveAll()
{
    for (int i = 0; i < m_parts.plans.count(); ++i) {
        if (!m_parts.plans.document(i).isDirty())
            continue;
        m_parts.plans.setCurrent(i);
        if (!m_parts.files.save())
            return false;
    }
    keep();
    emit message(m_project ? tr("Saved: every plan, and project %1").arg(name()) : tr("Saved: every plan"));
    return true;
}

bool ProjectFiles::close()
{
    if (!m_project || !m_parts.files.mayCloseAll())
        return false;
    keep();
    m_isOpening = true;
    leave();
    m_parts.files.openInstead({});
    m_parts.compare.sets().set({});
    m_parts.compare.setComparison({});
    m_isOpening = false;
    emit changed();
    return true;
}

void ProjectFiles::leave()
{
    m_project.reset();
    m_parts.session.project.clear();
    m_parts.files.setFolder({});
    keepViewsIn({});
    watch();
}

void ProjectFiles::askOpen()
{
    const QString folder
        = QFileDialog::getExistingDirectory(m_window, tr("Open project"), m_parts.session.recentProjects.value(0));
    if (!folder.isEmpty())
        open(folder.toStdString());
}

void ProjectFiles::askNew()
{
    const QString folder = QFileDialog::getExistingDirectory(
        m_window, tr("Folder of the new project"), m_parts.session.recentProjects.value(0));
    if (!folder.isEmpty())
        create(folder.toStdString());
}

void ProjectFiles::askNotes()
{
    if (!m_project)
        return;
    const std::optional<QString> notes = ui::askNotes(m_window, name(), fromUtf8(project()->notes()));
    if (!notes || !m_project)
        return;
    m_project->project().set_notes(notes->toStdString());
    keep();
}

} // namespace fourfold::ui
