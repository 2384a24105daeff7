// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/main_window.h"

#include "app/desktop/command_palette.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/save_file.h"
#include "app/desktop/keys_dialog.h"
#include "app/desktop/look/icons.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/compare_page.h"
#include "app/desktop/pages/history_page.h"
#include "app/desktop/pages/plan_page.h"
#include "app/desktop/pages/plan_workspace.h"
#include "app/desktop/pages/run_form.h"
#include "app/desktop/pages/runs_page.h"
#include "app/desktop/pages/search_page.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/desktop/window_drop.h"
#include "app/models/shared/answer.h"
#include "app/models/shared/text.h"
#include "core/report/timeline_export.h"

#include <QAction>
#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QToolBar>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kMessageMilliseconds = 10'000;
constexpr int kSessionMilliseconds = 1'000; // from a change to its being stored
constexpr QSize kDefaultSize{1440, 900};
constexpr QSize kWindowFrame{16, 48}; // room for a title bar: its size is not known before the window is shown
constexpr QSize kTimelinePage{1120, 420}; // of a PDF
} // namespace

const QStringList& MainWindow::pageNames()
{
    static const QStringList names{QStringLiteral("plan"), QStringLiteral("search"), QStringLiteral("compare"),
        QStringLiteral("runs"), QStringLiteral("history")};
    return names;
}

MainWindow::MainWindow(const Presets& presets, Options options)
    : m_presets(presets)
    , m_options(std::move(options))
    , m_session(m_options.session ? Session::load() : Session())
    , m_plans(presets)
    , m_live(m_controller)
    , m_banner(new Banner)
    , m_pages(new QStackedWidget)
    , m_workspace(new PlanWorkspace(m_plans))
    , m_search(new SearchPage(m_plans))
    , m_compare(new ComparePage(m_plans))
    , m_runs(new RunsPage(m_plans.current(), m_controller, m_live))
    , m_history(new HistoryPage(presets))
    , m_files(new PlanFiles(m_plans, m_session, this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(applicationIcon());
    // Colours first: a style sheet that comes after the font leaves it as it was in what has been made by then.
    applyTheme(m_session.theme);
    setUiZoom(m_session.zoom);
    if (m_options.session) {
        m_journal = std::make_unique<PlanJournal>(
            m_plans, m_options.journal.empty() ? PlanJournal::defaultFolder() : m_options.journal);
    }
    m_runs->setTrainer(m_options.trainer);
    m_runs->setHistoryFile(m_options.history);
    m_history->setHistoryFile(m_options.history);
    m_compare->setHistoryFile(m_options.history);
    for (QWidget* page : std::initializer_list<QWidget*>{m_workspace, m_search, m_compare, m_runs, m_history})
        m_pages->addWidget(page);
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_pages, 1);
    setCentralWidget(centre);
    makeActions();
    makeToolBar();
    m_toolBar->setIconSize({px(16), px(16)});
    makeMenus();
    gatherKeys();
    makeStatusBar();
    connectParts();

    resize(kDefaultSize.boundedTo(screen()->availableSize() - kWindowFrame));
    if (!m_session.geometry.isEmpty())
        restoreGeometry(m_session.geometry);
    applyLayout(this, m_session.layout);
    showIcons();
    if (zoom() != 100)
        renewZoom(this);
    showPage(static_cast<Page>(std::max<qsizetype>(0, pageNames().indexOf(m_session.page))));
    showDocument();
}

MainWindow::~MainWindow()
{
    // What the members say while they go concerns a window that is no longer whole.
    m_plans.disconnect(this);
    m_plans.undoGroup().disconnect(this);
    m_keys.disconnect(this);
    // The pages look at documents, controller and journal, which are members and would go first.
    delete takeCentralWidget();
}

void MainWindow::connectParts()
{
    m_saveSession.setSingleShot(true);
    m_saveSession.setInterval(kSessionMilliseconds);
    connect(&m_saveSession, &QTimer::timeout, this, &MainWindow::saveSession);
    const auto changed = [this] {
        if (m_isStarted)
            m_saveSession.start();
    };
    connect(&m_plans, &PlanTabs::added, this, changed);
    connect(&m_plans, &PlanTabs::removed, this, changed);
    connect(&m_plans, &PlanTabs::moved, this, changed);
    connect(&m_plans, &PlanTabs::currentChanged, this, changed);
    connect(&m_plans, &PlanTabs::titleChanged, this, changed);
    connect(m_pages, &QStackedWidget::currentChanged, this, changed);
    connect(&m_keys, &KeyBindings::changed, this, changed);
    connect(&m_plans, &PlanTabs::currentChanged, this, &MainWindow::showDocument);
    connect(&m_plans, &PlanTabs::titleChanged, this, [this](int index) {
        if (index == m_plans.currentIndex())
            showDocument();
    });
    connect(m_workspace, &PlanWorkspace::importRequested, m_files, &PlanFiles::askImport);
    connect(m_workspace, &PlanWorkspace::closeRequested, m_files, &PlanFiles::close);
    connect(m_files, &PlanFiles::message, this, &MainWindow::say);
    connect(m_files, &PlanFiles::recentChanged, this, &MainWindow::showRecent);
    connect(&m_live, &LiveRun::ended, this, &MainWindow::runEnded);
    connect(m_runs, &RunsPage::clusterSaved, this, &MainWindow::offerCluster);
    connect(m_runs, &RunsPage::runsChanged, m_history, [this] { m_history->refresh(); });
    connect(m_history, &HistoryPage::message, this, &MainWindow::say);
    connect(m_history, &HistoryPage::compareRequested, this, [this](const QStringList& runs) {
        for (const QString& run : runs)
            m_compare->addRun(run);
        showPage(Page::compare);
    });
    m_plans.undoGroup().addStack(&m_history->undoStack());
    connect(m_history, &HistoryPage::calibrationSaved, this, &MainWindow::offerStack);
    connect(m_search, &SearchPage::message, this, &MainWindow::say);
    connect(m_search, &SearchPage::applied, this, [this] { showPage(Page::plan); });
    connect(m_search, &SearchPage::compareRequested, this, [this](const std::vector<ResolvedPlan>& plans) {
        m_compare->addPlans(plans);
        showPage(Page::compare);
    });
    connect(m_compare, &ComparePage::message, this, &MainWindow::say);
    connect(m_compare, &ComparePage::applied, this, [this] { showPage(Page::plan); });
    connect(m_compare, &ComparePage::openRequested, m_files, &PlanFiles::askOpen);
    connect(m_compare, &ComparePage::copyRequested, this, [this] {
        m_files->duplicate();
        showPage(Page::plan);
        say(tr("This is the copy: change it, then go back to Compare (Ctrl+3)"));
    });
    connect(m_compare, &ComparePage::reportRequested, this, &MainWindow::askExportReport);
    auto* drop = new WindowDrop(this);
    connect(drop, &WindowDrop::dropped, this, &MainWindow::take);
    connect(drop, &WindowDrop::refused, this,
        [this](const Problem& problem) { showProblem(this, tr("This cannot be opened"), problem); });
}

PlanPage& MainWindow::planPage() const
{
    return m_workspace->current();
}

// A calibration that was just saved is of use in a plan.
void MainWindow::offerStack(const QString& stack, const QString& file)
{
    m_banner->say(Tone::good, tr("The calibrated stack %1 is saved in %2.").arg(stack, file),
        {{tr("Use it in the open plan"), [this, stack] {
              document().setValue("stack", stack.toStdString(), tr("Use stack %1").arg(stack));
              showPage(Page::plan);
          }}});
}

void MainWindow::offerCluster(const QString& cluster, const QString& file)
{
    m_banner->say(Tone::good, tr("The nodes are saved as cluster %1 in %2.").arg(cluster, file),
        {{tr("Use it in the open plan"), [this, cluster] {
              document().setValue("cluster", cluster.toStdString(), tr("Use cluster %1").arg(cluster), false);
              showPage(Page::plan);
          }}});
}

bool MainWindow::openPlan(const std::filesystem::path& file)
{
    return m_files->open(file);
}

bool MainWindow::savePlan()
{
    return m_files->save();
}

bool MainWindow::savePlanAs(const std::filesystem::path& file)
{
    return m_files->saveAs(file);
}

bool MainWindow::importModel(const std::filesystem::path& config)
{
    return m_files->importModel(config);
}

void MainWindow::openFile(const std::filesystem::path& file)
{
    if (const Expected<DroppedItem> item = classify(file))
        take(*item);
    else
        showProblem(this, tr("This cannot be opened"), item.error());
}

void MainWindow::take(const DroppedItem& item)
{
    switch (item.kind) {
    case DroppedKind::plan:
        if (m_files->open(item.file))
            showPage(Page::plan);
        break;
    case DroppedKind::model:
        if (m_files->importModel(item.file))
            showPage(Page::plan);
        break;
    case DroppedKind::run:
        showPage(Page::history);
        m_history->importRun(item.file);
        break;
    case DroppedKind::measurements:
        showPage(Page::compare);
        m_compare->addTable(item.file);
        break;
    }
}

void MainWindow::askExportTimeline()
{
    if (!document().isAnswered()) {
        say(tr("There is no timeline: the plan is not valid"));
        return;
    }
    const QString file = askSaveFile(this, tr("Export timeline"), QStringLiteral("timeline.svg"),
        tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf);;Chrome trace (*.json)"), QStringLiteral("svg"));
    if (file.isEmpty())
        return;
    const Prediction& prediction = *document().prediction();
    const Expected<void> written = file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)
        ? writePicture(planPage().timeline(), kTimelinePage, file)
        : export_timeline(prediction.timeline, prediction.plan.name, file.toStdString());
    if (written)
        say(tr("Timeline written to %1").arg(file));
    else
        showProblem(this, tr("The timeline was not written"), written.error());
}

void MainWindow::askExportReport()
{
    const QString file = askSaveFile(
        this, tr("Export report"), QStringLiteral("report.pdf"), tr("PDF (*.pdf)"), QStringLiteral("pdf"));
    if (file.isEmpty())
        return;
    const ReportPage report = page() == Page::compare ? m_compare->report() : planPage().report();
    if (const Expected<void> written = writeReport(report, file); !written)
        showProblem(this, tr("The report was not written"), written.error());
    else
        say(tr("Report written to %1").arg(file));
}

void MainWindow::showPage(Page page)
{
    const int index = static_cast<int>(page);
    m_pages->setCurrentIndex(index);
    if (m_modes->currentIndex() != index)
        m_modes->setCurrentIndex(index);
    // Undo is of what is on show.
    m_plans.undoGroup().setActiveStack(page == Page::history ? &m_history->undoStack() : &document().undoStack());
    m_runAction->setVisible(page != Page::runs); // there the assistant has the button
    m_searchAction->setVisible(page == Page::plan);
    m_wordyWidth = 0; // other buttons
    fitToolBar();
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

void MainWindow::setUiZoom(int percent)
{
    setZoom(percent);
    m_session.zoom = zoom();
    if (!m_toolBar)
        return;
    m_toolBar->setIconSize({px(16), px(16)});
    m_wordyWidth = 0;
    fitToolBar();
}

void MainWindow::restoreDefaultLayout()
{
    m_session.layout.clear();
    setUiZoom(100);
    resetLayout(this);
    if (!isMaximized() && !isFullScreen())
        resize(kDefaultSize.boundedTo(screen()->availableSize() - kWindowFrame));
}

SettingsPlace MainWindow::settingsOf(Page page)
{
    QWidget* widget = page == Page::plan ? &planPage() : m_pages->widget(static_cast<int>(page));
    return {m_modes->tabText(static_cast<int>(page)), widget, [this, page] { showPage(page); }};
}

void MainWindow::findCommand()
{
    // The page on show first: of two settings of one name it is the one meant.
    std::vector<SettingsPlace> places{settingsOf(page())};
    for (int index = 0; index < m_pages->count(); ++index) {
        if (static_cast<Page>(index) != page())
            places.push_back(settingsOf(static_cast<Page>(index)));
    }
    CommandPalette palette(CommandPalette::commandsOf(this, places), this);
    if (palette.exec() == QDialog::Accepted)
        palette.runChosen();
}

void MainWindow::showKeysDialog()
{
    KeysDialog(m_keys, this).exec();
}

void MainWindow::showFocusedAsTable()
{
    Card* card = nullptr;
    for (QWidget* at = focusWidget(); at && !card; at = at->parentWidget())
        card = qobject_cast<Card*>(at);
    if (card && card->table().columns.empty())
        card = nullptr;
    if (!card) { // the page's first picture, rather than one number
        QPoint first;
        for (Card* candidate : m_pages->currentWidget()->findChildren<Card*>()) {
            const QPoint at = candidate->mapTo(this, QPoint());
            const bool earlier = !card || std::pair(at.y(), at.x()) < std::pair(first.y(), first.x());
            if (!candidate->isVisible() || qobject_cast<FigureCard*>(candidate) || candidate->table().columns.empty()
                || !earlier)
                continue;
            card = candidate;
            first = at;
        }
    }
    if (card && !card->table().columns.empty())
        showAsTable(this, card->title(), card->table());
    else
        say(tr("This page has no picture to show as a table"));
}

void MainWindow::showDocument()
{
    PlanDocument& shown = document();
    setWindowTitle(tr("%1[*] \u2013 Fourfold").arg(shown.title()));
    setWindowModified(shown.isDirty());
    m_saveAction->setEnabled(shown.isDirty() || shown.file().empty());
    m_runs->setDocument(shown);
    disconnect(m_statusConnection);
    m_statusConnection = connect(&shown, &PlanDocument::predictionChanged, this, &MainWindow::showStatus);
    connect(&shown, &PlanDocument::editRefused, this, &MainWindow::say, Qt::UniqueConnection);
    connect(&shown, &PlanDocument::told, this, &MainWindow::say, Qt::UniqueConnection);
    showStatus();
}

void MainWindow::showStatus()
{
    if (!document().prediction())
        return;
    const Prediction& prediction = *document().prediction();
    m_evaluated->setText(document().isAnswered()
            ? tr("Evaluated in %1").arg(duration(document().predictionMilliseconds() / 1e3))
            : tr("Showing the last valid plan"));
    m_evidence->setText(
        QStringLiteral("%1: %2").arg(fromUtf8(prediction.plan.stack.name), evidenceText(prediction.evidence)));
}

void MainWindow::runEnded(const QString& runId)
{
    if (!runId.isEmpty())
        m_history->showNext(runId);
}

void MainWindow::say(const QString& text)
{
    statusBar()->showMessage(text, kMessageMilliseconds);
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    fitToolBar();
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    m_wordyWidth = 0; // the style sheet has its say only now
    fitToolBar();
}

void MainWindow::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && m_modes)
        showIcons();
    QMainWindow::changeEvent(event);
}

} // namespace fourfold::ui
