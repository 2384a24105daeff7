// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/plan_files.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/start_dialog.h"
#include "app/models/shared/dropped_item.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/open_instead.h"
#include "core/plan/fields.h"

#include <QFileDialog>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr const char* kStartPlan = "this-computer"; // preset that trains on any computer
const QString kPlanFilter = QStringLiteral("*.plan.json *.fourfold.json *.json");

std::filesystem::path pathOf(const QString& file)
{
    return file.toStdString();
}

QString absoluteText(const std::filesystem::path& file)
{
    return file.empty() ? QString() : exactText(std::filesystem::absolute(file).string());
}

// A preset plan becomes an untitled plan of the user's own.
Expected<Plan> presetPlan(const Presets& presets, const std::string& id)
{
    FOURFOLD_TRY(const std::filesystem::path file, presets.file("plans", id));
    FOURFOLD_TRY(Plan plan, view::read_plan_file(file));
    plan.where.clear();
    return plan;
}
} // namespace

PlanFiles::PlanFiles(PlanTabs& plans, Session& session, QWidget* window)
    : QObject(window)
    , m_plans(plans)
    , m_session(session)
    , m_window(window)
{
}

void PlanFiles::openSession()
{
    const QString shown = m_session.openPlans.value(m_session.currentPlan);
    std::vector<std::filesystem::path> files;
    for (const QString& file : m_session.openPlans)
        files.push_back(pathOf(file));
    // A file that is gone or broken since is no reason to bother a user who only started the program.
    static_cast<void>(openInstead(files));
    if (const int index = m_plans.indexOf(pathOf(shown)); index >= 0)
        m_plans.setCurrent(index);
}

std::vector<Problem> PlanFiles::openInstead(const std::vector<std::filesystem::path>& files)
{
    const view::PlanPlaces tabs{[this] { return m_plans.count(); },
        [this](int index) { return m_plans.document(index).file(); },
        [this](int index) { return m_plans.document(index).isDirty(); },
        [this](int index) {
            PlanDocument& document = m_plans.document(index);
            return document.file().empty() && !document.isDirty() && document.undoStack().count() == 0;
        },
        [this](int index) { m_plans.close(index); },
        [this](const std::filesystem::path& file) { return m_plans.indexOf(file); },
        [this](int index, const std::filesystem::path& file) {
            return (index < 0 ? m_plans.unused() : m_plans.document(index)).open(file);
        },
        [this](int from, int to) { m_plans.move(from, to); }, [this](int index) { m_plans.setCurrent(index); }};
    std::vector<Problem> problems = view::open_instead(tabs, files);
    if (m_plans.count() == 1 && m_plans.current().plan().document.is_null())
        newPlan();
    return problems;
}

int PlanFiles::restore(const std::vector<PlanJournal::Entry>& entries)
{
    int restored = 0;
    for (const PlanJournal::Entry& entry : entries) {
        const int open = entry.file.empty() ? -1 : m_plans.indexOf(entry.file);
        if (open >= 0) {
            m_plans.setCurrent(open);
        } else {
            PlanDocument& document = m_plans.unused();
            if (entry.file.empty() || !document.open(entry.file)) {
                if (Expected<Plan> plan = plan_from_json(entry.plan, {}))
                    document.reset(*std::move(plan));
            }
        }
        PlanDocument& document = m_plans.current();
        if (document.file().empty()) {
            document.markUnsaved();
            ++restored;
        } else if (document.plan().document != entry.plan) {
            document.apply(tr("Restore unsaved changes"), {}, plan_from_json(entry.plan, document.plan().where));
            ++restored;
        }
    }
    return restored;
}

void PlanFiles::rememberSession()
{
    m_session.openPlans.clear();
    m_session.currentPlan = 0;
    for (int i = 0; i < m_plans.count(); ++i) {
        const QString file = absoluteText(m_plans.document(i).file());
        if (file.isEmpty())
            continue;
        if (i == m_plans.currentIndex())
            m_session.currentPlan = static_cast<int>(m_session.openPlans.size());
        m_session.openPlans << file;
    }
}

void PlanFiles::newPlan()
{
    Expected<Plan> plan = presetPlan(m_plans.presets(), kStartPlan);
    if (!plan)
        plan = plan_from_json(
            {{"fourfold_plan", 1}, {"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}}, {});
    showUntitled(std::move(plan), tr("No new plan can be made"));
}

void PlanFiles::askRecommendation()
{
    StartDialog dialog(m_plans.presets(), m_plans.current().resolved(), m_window);
    dialog.exec();
    if (std::optional<Plan> plan = dialog.plan()) {
        showUntitled(*std::move(plan), {});
        m_plans.current().markUnsaved();
    }
}

void PlanFiles::duplicate()
{
    Plan plan = view::copy_of(m_plans.current().plan(), m_plans.current().title().toStdString());
    PlanDocument& copy = m_plans.add();
    copy.reset(std::move(plan));
    copy.markUnsaved();
    m_plans.setCurrent(m_plans.indexOf(copy));
}

void PlanFiles::openUntitled(const Plan& plan)
{
    PlanDocument& opened = m_plans.unused();
    opened.reset(plan);
    opened.markUnsaved();
}

void PlanFiles::openExample(const QString& id)
{
    showUntitled(presetPlan(m_plans.presets(), id.toStdString()), tr("The example cannot be opened"));
}

void PlanFiles::showUntitled(Expected<Plan> plan, const QString& problemTitle)
{
    if (plan)
        m_plans.unused().reset(*std::move(plan));
    else
        showProblem(m_window, problemTitle, plan.error());
}

bool PlanFiles::open(const std::filesystem::path& file)
{
    if (const int index = m_plans.indexOf(file); index >= 0) {
        m_plans.setCurrent(index);
        return true;
    }
    // Read before a tab is made: an unusable file leaves no trace.
    if (!succeeded(m_window, tr("The plan cannot be opened"), view::read_plan_file(file)))
        return false;
    if (!succeeded(m_window, tr("The plan cannot be opened"), m_plans.unused().open(file)))
        return false;
    remember();
    return true;
}

bool PlanFiles::save()
{
    PlanDocument& document = m_plans.current();
    if (document.file().empty())
        return askSaveAs();
    if (document.isChangedOnDisk()) {
        const auto answer = askAboutChangedFile(m_window, document.title());
        if (answer == ChangedFileAnswer::reload)
            reload(m_plans.currentIndex());
        if (answer != ChangedFileAnswer::overwrite)
            return false;
    }
    return saveAs(std::filesystem::path(document.file()));
}

bool PlanFiles::reload(int index)
{
    PlanDocument& document = m_plans.document(index);
    if (!succeeded(m_window, tr("The plan cannot be read again"), document.reload()))
        return false;
    emit message(tr("Read again from %1").arg(fromUtf8(document.file().string())));
    return true;
}

void PlanFiles::openFromDisk(int index)
{
    const PlanDocument& document = m_plans.document(index);
    Expected<Plan> plan = view::read_plan_file(document.file());
    if (plan) {
        plan->document["name"] = tr("%1, on disk").arg(document.title()).toStdString();
        plan->where.clear();
    }
    if (!succeeded(m_window, tr("The plan cannot be read again"), plan))
        return;
    m_plans.setCurrent(index);
    PlanDocument& other = m_plans.add();
    other.reset(*std::move(plan));
}

bool PlanFiles::saveAs(const std::filesystem::path& file)
{
    if (!succeeded(m_window, tr("The plan was not saved"), m_plans.current().save(file)))
        return false;
    remember();
    emit message(tr("Saved to %1").arg(fromUtf8(file.string())));
    return true;
}

bool PlanFiles::importModel(const std::filesystem::path& config)
{
    PlanDocument& document = m_plans.current();
    Expected<Plan> plan = view::with_hugging_face_config(document.plan(), document.presets(), config);
    if (!succeeded(m_window, tr("The model cannot be imported"), plan))
        return false;
    document.changeModel(tr("Import model"), std::move(plan));
    QStringList lines;
    for (const std::string& line : view::config_report(document.plan()))
        lines << fromUtf8(line);
    emit message(tr("Model taken from %1: %2").arg(fromUtf8(config.string()), lines.join(QStringLiteral("; "))));
    return true;
}

bool PlanFiles::mayLose(int index)
{
    if (!m_plans.document(index).isDirty())
        return true;
    m_plans.setCurrent(index); // the question is about what is on show
    switch (askToSave(m_window, m_plans.current().title())) {
    case SaveAnswer::save:
        return save();
    case SaveAnswer::discard:
        return true;
    case SaveAnswer::cancel:
        break;
    }
    return false;
}

bool PlanFiles::close(int index)
{
    if (!mayLose(index))
        return false;
    m_plans.close(index);
    if (m_plans.count() == 1 && m_plans.current().plan().document.is_null())
        newPlan();
    return true;
}

bool PlanFiles::mayCloseAll()
{
    for (int i = 0; i < m_plans.count(); ++i) {
        if (!mayLose(i))
            return false;
    }
    return true;
}

void PlanFiles::askOpen()
{
    const QString folder
        = m_folder.empty() ? QFileInfo(m_session.recentPlans.value(0)).path() : exactText(m_folder.string());
    const QStringList files
        = QFileDialog::getOpenFileNames(m_window, tr("Open plans, and what can be dropped on the window"), folder,
            tr("Plans (%1);;Traces (*.json *.json.gz);;TensorBoard and W&B (*tfevents* *.wandb);;All files (*)")
                .arg(kPlanFilter));
    for (const QString& file : files) {
        const Expected<DroppedItem> item = classify(pathOf(file));
        if (item && item->kind != DroppedKind::plan)
            emit otherChosen(pathOf(file));
        else if (!open(pathOf(file))) // which says what is wrong with it
            return;
    }
}

bool PlanFiles::askSaveAs()
{
    QString suggestion = exactText(m_plans.current().file().string());
    if (suggestion.isEmpty())
        suggestion = exactText((m_folder / "").string())
            + m_plans.current().title().replace(QLatin1Char('/'), QLatin1Char('-')) + QStringLiteral(".plan.json");
    QString file
        = QFileDialog::getSaveFileName(m_window, tr("Save plan"), suggestion, tr("Plans (%1)").arg(kPlanFilter));
    if (file.isEmpty())
        return false;
    if (!file.endsWith(QLatin1String(".json"), Qt::CaseInsensitive))
        file += QStringLiteral(".plan.json");
    return saveAs(pathOf(file));
}

void PlanFiles::askImport()
{
    const QString file
        = QFileDialog::getOpenFileName(m_window, tr("Import a Hugging Face model"), {}, tr("config.json (*.json)"));
    if (!file.isEmpty())
        importModel(pathOf(file));
}

void PlanFiles::remember()
{
    m_session.addRecent(absoluteText(m_plans.current().file()));
    emit recentChanged();
}

} // namespace fourfold::ui
