// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/main_window.h"

#include "app/desktop/dialogs.h"
#include "app/desktop/icons.h"
#include "app/desktop/pages/history_page.h"
#include "app/desktop/pages/plan_page.h"
#include "app/desktop/pages/run_form.h"
#include "app/desktop/pages/runs_page.h"
#include "app/models/answer.h"
#include "app/models/plan_edits.h"
#include "app/models/text.h"
#include "core/report/timeline_export.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr const char* kStartPlan = "this-computer"; // preset that trains on any computer
const QString kPlanFilter = QStringLiteral("*.plan.json *.fourfold.json *.json");

std::filesystem::path pathOf(const QString& file)
{
    return file.toStdString();
}

// A preset plan becomes an untitled plan of the user's own.
Expected<Plan> presetPlan(const Presets& presets, const std::string& id)
{
    FOURFOLD_TRY(const std::filesystem::path file, presets.file("plans", id));
    FOURFOLD_TRY(Plan plan, read_plan(file));
    plan.where.clear();
    return plan;
}
} // namespace

MainWindow::MainWindow(const Presets& presets, Options options)
    : m_presets(presets)
    , m_options(std::move(options))
    , m_document(presets)
    , m_live(m_controller)
    , m_pages(new QStackedWidget)
    , m_plan(new PlanPage(m_document))
    , m_runs(new RunsPage(m_document, m_controller, m_live))
    , m_history(new HistoryPage)
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(applicationIcon());
    m_runs->setTrainer(m_options.trainer);
    m_runs->setHistoryFile(m_options.history);
    m_history->setHistoryFile(m_options.history);
    for (QWidget* page : std::initializer_list<QWidget*>{m_plan, m_runs, m_history})
        m_pages->addWidget(page);
    setCentralWidget(m_pages);
    if (m_options.session)
        m_session = Session::load();
    makeActions();
    makeToolBar();
    makeMenus();
    makeStatusBar();

    connect(&m_document, &PlanDocument::fileChanged, this, &MainWindow::showTitle);
    connect(&m_document, &PlanDocument::planChanged, this, &MainWindow::showTitle);
    connect(&m_document, &PlanDocument::predictionChanged, this, &MainWindow::showStatus);
    connect(&m_document, &PlanDocument::editRefused, this,
        [this](const QString& why) { statusBar()->showMessage(why, 10'000); });
    connect(m_plan, &PlanPage::importRequested, this, &MainWindow::askImport);
    connect(&m_live, &LiveRun::ended, this, &MainWindow::runEnded);
    connect(m_history, &HistoryPage::message, this,
        [this](const QString& text) { statusBar()->showMessage(text, 10'000); });

    resize(1440, 900);
    if (!m_session.geometry.isEmpty())
        restoreGeometry(m_session.geometry);
    setTheme(m_session.theme);
    showPage(static_cast<Page>(std::clamp(m_session.page, 0, m_pages->count() - 1)));
    showTitle();
}

MainWindow::~MainWindow() = default;

void MainWindow::openStartPlan()
{
    if (!m_session.lastPlan.isEmpty() && m_document.open(pathOf(m_session.lastPlan)))
        return;
    newPlan();
}

void MainWindow::newPlan()
{
    if (!mayLoseChanges())
        return;
    Expected<Plan> plan = presetPlan(m_presets, kStartPlan);
    if (!plan)
        plan = plan_from_json(
            {{"fourfold_plan", 1}, {"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}}, {});
    if (plan)
        m_document.reset(*std::move(plan));
}

void MainWindow::openExample(const QString& id)
{
    if (!mayLoseChanges())
        return;
    Expected<Plan> plan = presetPlan(m_presets, id.toStdString());
    if (plan)
        m_document.reset(*std::move(plan));
    else
        showProblem(this, tr("The example cannot be opened"), plan.error());
}

bool MainWindow::openPlan(const std::filesystem::path& file)
{
    if (!mayLoseChanges())
        return false;
    if (const Expected<void> opened = m_document.open(file); !opened) {
        showProblem(this, tr("The plan cannot be opened"), opened.error());
        return false;
    }
    rememberFile();
    return true;
}

bool MainWindow::savePlan()
{
    return m_document.file().empty() ? askSaveAs() : savePlanAs(m_document.file());
}

bool MainWindow::savePlanAs(const std::filesystem::path& file)
{
    if (const Expected<void> saved = m_document.save(file); !saved) {
        showProblem(this, tr("The plan was not saved"), saved.error());
        return false;
    }
    rememberFile();
    statusBar()->showMessage(tr("Saved to %1").arg(fromUtf8(file.string())), 5000);
    return true;
}

bool MainWindow::importModel(const std::filesystem::path& config)
{
    Expected<Plan> plan = withHuggingFaceConfig(m_document.plan(), config);
    if (!plan) {
        showProblem(this, tr("The model cannot be imported"), plan.error());
        return false;
    }
    m_document.apply(tr("Import model"), {}, std::move(plan));
    return true;
}

bool MainWindow::mayLoseChanges()
{
    if (!m_document.isDirty())
        return true;
    switch (askToSave(this, m_document.title())) {
    case SaveAnswer::save:
        return savePlan();
    case SaveAnswer::discard:
        return true;
    case SaveAnswer::cancel:
        break;
    }
    return false;
}

void MainWindow::askOpen()
{
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open plan"), QFileInfo(m_session.lastPlan).path(), tr("Plans (%1)").arg(kPlanFilter));
    if (!file.isEmpty())
        openPlan(pathOf(file));
}

bool MainWindow::askSaveAs()
{
    QString suggestion = fromUtf8(m_document.file().string());
    if (suggestion.isEmpty())
        suggestion = m_document.title().replace(QLatin1Char('/'), QLatin1Char('-')) + QStringLiteral(".plan.json");
    QString file = QFileDialog::getSaveFileName(this, tr("Save plan"), suggestion, tr("Plans (%1)").arg(kPlanFilter));
    if (file.isEmpty())
        return false;
    if (!file.endsWith(QLatin1String(".json"), Qt::CaseInsensitive))
        file += QStringLiteral(".plan.json");
    return savePlanAs(pathOf(file));
}

void MainWindow::askImport()
{
    const QString file
        = QFileDialog::getOpenFileName(this, tr("Import a Hugging Face model"), {}, tr("config.json (*.json)"));
    if (!file.isEmpty())
        importModel(pathOf(file));
}

void MainWindow::askExportTimeline()
{
    if (!m_document.isAnswered()) {
        statusBar()->showMessage(tr("There is no timeline: the plan is not valid"), 5000);
        return;
    }
    const QString file = QFileDialog::getSaveFileName(this, tr("Export timeline"), QStringLiteral("timeline.svg"),
        tr("SVG (*.svg);;PNG (*.png);;Chrome trace (*.json)"));
    if (file.isEmpty())
        return;
    const Expected<void> written
        = export_timeline(m_document.prediction()->timeline, m_document.prediction()->plan.name, pathOf(file));
    if (written)
        statusBar()->showMessage(tr("Timeline written to %1").arg(file), 5000);
    else
        showProblem(this, tr("The timeline was not written"), written.error());
}

void MainWindow::rememberFile()
{
    m_session.lastPlan = fromUtf8(std::filesystem::absolute(m_document.file()).string());
    m_session.addRecent(m_session.lastPlan);
    showRecent();
}

void MainWindow::showPage(Page page)
{
    const int index = static_cast<int>(page);
    m_pages->setCurrentIndex(index);
    if (m_modes->currentIndex() != index)
        m_modes->setCurrentIndex(index);
    m_runAction->setVisible(page != Page::runs); // there the assistant has the button
}

MainWindow::Page MainWindow::page() const
{
    return static_cast<Page>(m_pages->currentIndex());
}

void MainWindow::setTheme(ThemeChoice choice)
{
    m_session.theme = choice;
    applyTheme(choice);
    showIcons();
}

void MainWindow::showTitle()
{
    setWindowTitle(tr("%1[*] \u2013 Fourfold").arg(m_document.title()));
    setWindowModified(m_document.isDirty());
    m_saveAction->setEnabled(m_document.isDirty() || m_document.file().empty());
}

void MainWindow::showStatus()
{
    if (!m_document.prediction())
        return;
    const Prediction& prediction = *m_document.prediction();
    m_evaluated->setText(m_document.isAnswered()
            ? tr("Evaluated in %1").arg(duration(m_document.predictionMilliseconds() / 1e3))
            : tr("Showing the last valid plan"));
    m_evidence->setText(
        QStringLiteral("%1: %2").arg(fromUtf8(prediction.plan.stack.name), evidenceText(prediction.evidence)));
}

void MainWindow::runEnded(const QString& runId)
{
    if (!runId.isEmpty())
        m_history->refresh(runId);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!mayLoseChanges() || (m_controller.isRunning() && !askToStopRun(this))) {
        event->ignore();
        return;
    }
    if (m_options.session) {
        m_session.geometry = saveGeometry();
        m_session.page = m_pages->currentIndex();
        m_session.lastPlan
            = m_document.file().empty() ? QString() : fromUtf8(std::filesystem::absolute(m_document.file()).string());
        m_session.save();
    }
    m_controller.stop();
    event->accept();
}

void MainWindow::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && m_modes)
        showIcons();
    QMainWindow::changeEvent(event);
}

} // namespace fourfold::ui
