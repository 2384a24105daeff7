// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/main_window.h"

#include "app/desktop/changed_plans.h"
#include "app/desktop/command_palette.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/keys_dialog.h"
#include "app/desktop/look/icons.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/page_stack.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/plan/plan_workspace.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/project_files.h"
#include "app/desktop/run_signs.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/window_commands.h"
#include "app/desktop/window_drop.h"
#include "app/desktop/window_exports.h"
#include "app/desktop/window_fields.h"
#include "app/desktop/window_files.h"
#include "app/desktop/window_status.h"
#include "app/desktop/window_tool_bar.h"
#include "app/models/plan/plan_journal.h"
#include "app/models/shared/text.h"
#include "app/view/history/history_access.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDialog>
#include <QScreen>
#include <QStatusBar>
#include <QTimer>

#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kMessageMilliseconds = 10'000;
constexpr int kSessionMilliseconds = 1'000; // from a change to its being stored
constexpr QSize kDefaultSize{1440, 900};
constexpr QSize kWindowFrame{16, 48}; // room for a title bar: its size is not known before the window is shown
} // namespace

MainWindow::MainWindow(const Presets& presets, Options options)
    : m_options(std::move(options))
    , m_session(m_options.session ? Session::load() : Session())
    , m_plans(presets)
    , m_live(m_controller)
    , m_banner(new Banner)
    , m_pages(new PageStack({presets, m_plans, m_controller, m_live, m_options.trainer, m_options.history}))
    , m_files(new PlanFiles(m_plans, m_session, this))
    , m_projects(new ProjectFiles({m_plans, *m_files, comparePage(), m_session, *m_banner}, this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(applicationIcon());
    // Colours first: a style sheet that comes after the font leaves it as it was in what has been made by then.
    applyTheme(m_session.theme);
    setUiZoom(m_session.zoom);
    if (m_options.session)
        m_journal = std::make_unique<PlanJournal>(
            m_plans, m_options.journal.empty() ? PlanJournal::defaultFolder() : m_options.journal);
    setCentralWidget(holderOf(columnOf({m_banner, {m_pages, 1}})));
    m_commands = std::make_unique<WindowCommands>(*this, presets);
    const auto actions = [this](std::initializer_list<const char*> ids) {
        QList<QAction*> actions;
        for (const char* id : ids)
            actions << m_commands->action(QString::fromLatin1(id));
        return actions;
    };
    m_toolBar = new WindowToolBar(
        actions({"file.new", "file.open", "file.save"}), actions({"edit.undo", "edit.redo"}), m_keys);
    addToolBar(m_toolBar);
    m_commands->showKeys();
    m_toolBar->showKeys();
    m_status = new WindowStatus(*statusBar());
    m_status->setParent(this);
    connectParts();
    connectPages();

    resize(kDefaultSize.boundedTo(screen()->availableSize() - kWindowFrame));
    if (!m_session.geometry.isEmpty())
        restoreGeometry(m_session.geometry);
    applyLayout(this, m_session.layout);
    m_commands->showIcons();
    if (zoom() != 100)
        renewZoom(this);
    showPage(PageStack::ids().front());
    showPage(m_session.page);
    showDocument();
}

void MainWindow::keepLayoutOf(QDialog& dialog)
{
    applyLayout(&dialog, m_session.layout);
    connect(&dialog, &QDialog::finished, this, [this, &dialog] { m_session.layout.insert(layoutOf(&dialog)); });
}

MainWindow::~MainWindow()
{
    // What the members say while they go concerns a window that is no longer whole.
    delete m_projects; // it keeps what the pages have
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
    connect(&m_keys, &KeyBindings::changed, this, [this, changed] {
        m_session.keys = m_keys.chosen();
        m_commands->showKeys();
        m_toolBar->showKeys();
        changed();
    });
    connect(&m_plans, &PlanTabs::currentChanged, this, &MainWindow::showDocument);
    connect(&m_plans, &PlanTabs::titleChanged, this, [this](int index) {
        if (index == m_plans.currentIndex())
            showDocument();
    });
    if (m_journal) {
        connect(m_journal.get(), &PlanJournal::failed, this, [this](const QString& why) {
            m_banner->say(Tone::warning,
                tr("Changes that are not saved would be lost in a crash: the journal cannot be kept (%1).").arg(why));
        });
    }
    auto* changedPlans = new ChangedPlans(m_plans, *m_files, *m_banner, this);
    connect(changedPlans, &ChangedPlans::compareRequested, this, [this] { showPage(QStringLiteral("compare")); });
    connect(qApp, &QApplication::applicationStateChanged, this, [this, changedPlans](Qt::ApplicationState state) {
        if (state != Qt::ApplicationActive)
            return;
        changedPlans->look();
        m_projects->look();
    });
    connect(m_projects, &ProjectFiles::message, this, &MainWindow::say);
    connect(m_projects, &ProjectFiles::changed, this, [this, changed] {
        m_commands->showProject();
        showDocument(); // the title names it
        changed();
    });
    connect(m_files, &PlanFiles::message, this, &MainWindow::say);
    connect(m_files, &PlanFiles::recentChanged, m_commands.get(), &WindowCommands::showRecent);
    connect(m_toolBar, &WindowToolBar::pageChosen, this, [this](int index) { showPage(PageStack::ids()[index]); });
    connect(m_toolBar, &WindowToolBar::findRequested, this, &MainWindow::findCommand);
    connect(m_toolBar, &WindowToolBar::searchRequested, this, &MainWindow::searchLayouts);
    connect(m_toolBar, &WindowToolBar::runRequested, this, [this] { showPage(QStringLiteral("runs")); });
    auto* drop = new WindowDrop(this);
    connect(drop, &WindowDrop::dropped, this, [this](const DroppedItem& item) { openItem(*this, item); });
    connect(m_files, &PlanFiles::otherChosen, this, &MainWindow::openFile);
    connect(drop, &WindowDrop::refused, this,
        [this](const Problem& problem) { showProblem(this, tr("This cannot be opened"), problem); });
}

// What one page asks of another.
void MainWindow::connectPages()
{
    connect(m_pages, &PageStack::message, this, &MainWindow::say);
    const auto showPlan = [this] { showPage(QStringLiteral("plan")); };
    connect(&workspace(), &PlanWorkspace::importRequested, m_files, &PlanFiles::askImport);
    connect(&workspace(), &PlanWorkspace::closeRequested, m_files, &PlanFiles::close);
    connect(&searchPage(), &SearchPage::applied, this, showPlan);
    connect(&searchPage(), &SearchPage::compareRequested, this, [this](const std::vector<ResolvedPlan>& plans) {
        comparePage().addPlans(plans);
        showPage(QStringLiteral("compare"));
    });
    connect(&comparePage(), &ComparePage::applied, this, showPlan);
    connect(&comparePage(), &ComparePage::openRequested, m_files, &PlanFiles::askOpen);
    connect(&comparePage(), &ComparePage::copyRequested, this, [this, showPlan] {
        m_files->duplicate();
        showPlan();
        const QString back = m_keys.keysOf(commandOfPage(PageStack::indexOf(QStringLiteral("compare"))));
        say(tr("This is the copy: change it, then go back to %1").arg(withKeys(tr("Compare"), back)));
    });
    connect(&comparePage(), &ComparePage::reportRequested, this, [this] { askExportReport(*this); });
    connect(&runsPage(), &RunsPage::clusterSaved, this, [this](const QString& cluster, const QString& file) {
        offerPreset(QStringLiteral("cluster"), cluster,
            tr("The nodes are saved as cluster %1 in %2.").arg(cluster, file), tr("Use cluster %1").arg(cluster));
    });
    connect(&runsPage(), &RunsPage::runsChanged, &historyPage(), [this] { historyPage().refresh(); });
    connect(&m_live, &LiveRun::ended, &historyPage(), &HistoryPage::showNext);
    auto* signs = new RunSigns(m_controller, m_live, *this, runsPage());
    connect(signs, &RunSigns::running, m_toolBar, &WindowToolBar::showRunning);
    connect(signs, &RunSigns::ended, this, &MainWindow::say);
    connect(signs, &RunSigns::alerted, this, &MainWindow::say);
    connect(
        &historyPage(), &HistoryPage::planRequested, this, [this](const Plan& plan, const QString& target, bool runs) {
            m_files->openUntitled(plan);
            showPage(runs ? QStringLiteral("runs") : QStringLiteral("plan"));
            if (runs)
                runsPage().form().setTarget(target);
        });
    connect(&historyPage(), &HistoryPage::compareRequested, this, [this](const QStringList& runs) {
        for (const QString& run : runs)
            comparePage().addRun(run);
        showPage(QStringLiteral("compare"));
    });
    connect(&historyPage(), &HistoryPage::calibrationSaved, this, [this](const QString& stack, const QString& file) {
        offerPreset(QStringLiteral("stack"), stack, tr("The calibrated stack %1 is saved in %2.").arg(stack, file),
            tr("Use stack %1").arg(stack));
    });
    const auto trace
        = [this](const StepTrace& step, const view::TraceBeside& beside) { showTrace(*this, step, beside); };
    connect(&runsPage(), &RunsPage::traceRequested, this, trace);
    connect(&historyPage(), &HistoryPage::traceRequested, this, trace);
    for (int i = 0; i < m_pages->count(); ++i) {
        if (QUndoStack* undo = m_pages->at(i).ownUndo())
            m_plans.undoGroup().addStack(undo);
    }
}

PlanWorkspace& MainWindow::workspace() const
{
    return m_pages->of<PlanWorkspace>();
}

PlanPage& MainWindow::planPage() const
{
    return workspace().current();
}

// A preset that was just saved is of use in a plan.
void MainWindow::offerPreset(const QString& field, const QString& id, const QString& text, const QString& step)
{
    m_banner->say(Tone::good, text, {{tr("Use it in the open plan"), [this, field, id, step] {
                                          document().setValue(field.toStdString(), id.toStdString(), step, false);
                                          showPage(QStringLiteral("plan"));
                                      }}});
}

SearchPage& MainWindow::searchPage() const
{
    return m_pages->of<SearchPage>();
}

ComparePage& MainWindow::comparePage() const
{
    return m_pages->of<ComparePage>();
}

RunsPage& MainWindow::runsPage() const
{
    return m_pages->of<RunsPage>();
}

HistoryPage& MainWindow::historyPage() const
{
    return m_pages->of<HistoryPage>();
}

bool MainWindow::openPlan(const std::filesystem::path& file)
{
    return m_files->open(file);
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
        openItem(*this, *item);
    else
        showProblem(this, tr("This cannot be opened"), item.error());
}

void MainWindow::showPage(const QString& id)
{
    const int index = PageStack::indexOf(id);
    if (index < 0)
        return;
    m_pages->setCurrentIndex(index);
    // Undo is of what is on show.
    QUndoStack* own = m_pages->current().ownUndo();
    m_plans.undoGroup().setActiveStack(own ? own : &document().undoStack());
    m_toolBar->showPage(index);
}

QString MainWindow::page() const
{
    return PageStack::ids()[m_pages->currentIndex()];
}

void MainWindow::searchLayouts()
{
    showPage(QStringLiteral("search"));
    searchPage().start();
}

void MainWindow::setTheme(ThemeChoice choice)
{
    m_session.theme = choice;
    applyTheme(choice);
    m_commands->showIcons();
}

void MainWindow::setUiZoom(int percent)
{
    const QSize before = size();
    const bool grows = zoom() == 100 && percent > 100;
    setZoom(percent);
    m_session.zoom = zoom();
    if (m_toolBar)
        m_toolBar->measure();
    if (grows)
        m_unzoomed = before;
    // Pages that need more room have made the window larger; at their old size they need it no more.
    if (zoom() <= 100 && m_unzoomed.isValid() && !isMaximized() && !isFullScreen()) {
        QTimer::singleShot(
            0, this, [this, back = std::exchange(m_unzoomed, QSize())] { resize(back.boundedTo(size())); });
    }
}

void MainWindow::restoreDefaultLayout()
{
    m_session.layout.clear();
    setUiZoom(100);
    resetLayout(this);
    if (!isMaximized() && !isFullScreen())
        resize(kDefaultSize.boundedTo(screen()->availableSize() - kWindowFrame));
}

SettingsPlace MainWindow::settingsOf(const QString& page)
{
    const int index = PageStack::indexOf(page);
    return {PageStack::title(index), &m_pages->at(index).settings(), [this, page] { showPage(page); }};
}

void MainWindow::findCommand()
{
    // The page on show first: of two settings of one name it is the one meant.
    std::vector<SettingsPlace> places{settingsOf(page())};
    for (const QString& id : PageStack::ids()) {
        if (id != page())
            places.push_back(settingsOf(id));
    }
    std::vector<Command> commands = CommandPalette::commandsOf(this, places);
    std::ranges::move(fieldCommands(*this, commands), std::back_inserter(commands));
    CommandPalette palette(std::move(commands), this);
    if (palette.exec() == QDialog::Accepted)
        palette.runChosen();
}

void MainWindow::showKeysDialog()
{
    KeysDialog(m_keys, this).exec();
}

void MainWindow::showDocument()
{
    PlanDocument& shown = document();
    const QString project = m_projects->name();
    setWindowTitle(project.isEmpty() ? tr("%1[*] \u2013 Fourfold").arg(shown.title())
                                     : tr("%1[*] \u2013 %2 \u2013 Fourfold").arg(shown.title(), project));
    setWindowModified(shown.isDirty());
    m_commands->action(QStringLiteral("file.save"))->setEnabled(shown.isDirty() || shown.file().empty());
    runsPage().setDocument(shown);
    m_status->setDocument(shown);
    connect(&shown, &PlanDocument::editRefused, this, &MainWindow::say, Qt::UniqueConnection);
    connect(&shown, &PlanDocument::told, this, &MainWindow::say, Qt::UniqueConnection);
}

void MainWindow::say(const QString& text)
{
    statusBar()->showMessage(text, kMessageMilliseconds);
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    m_toolBar->fit();
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    m_toolBar->measure(); // the style sheet has its say only now
}

void MainWindow::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && m_commands)
        m_commands->showIcons();
    QMainWindow::changeEvent(event);
}

void MainWindow::openStartPlan()
{
    if (!m_projects->openOfSession())
        m_files->openSession();
    m_isStarted = true;
    if (!m_journal)
        return;
    m_pages->restore(m_session.pages);
    m_projects->showComparison();
    offerRunsUnderWay();
    const int restored = m_files->restore(m_journal->takeLeftovers());
    if (restored > 0) {
        m_journal->flush(); // they are this program's to lose now
        m_banner->say(Tone::warning,
            tr("Fourfold was not closed properly last time. %1 with unsaved changes %2 restored.")
                .arg(counted(restored, tr("plan")), restored == 1 ? tr("was") : tr("were")));
    }
}

// Runs of this computer's history that a closed window, or a lost one, left on their nodes.
void MainWindow::offerRunsUnderWay()
{
    const std::vector<RunSummary> runs = view::runs_under_way(m_options.history);
    if (runs.empty())
        return;
    const QString id = fromUtf8(runs.front().id);
    m_banner->say(Tone::neutral,
        tr("Run %1 (%2) was still going when Fourfold was closed.").arg(id.left(12), fromUtf8(runs.front().name)),
        {{tr("Follow it"), [this, id] {
              showPage(QStringLiteral("runs"));
              runsPage().follow(id);
          }}});
}

// At the end, and a moment after each change of what is open: a program may be ended without being asked.
void MainWindow::saveSession()
{
    m_projects->keep();
    if (!m_journal)
        return;
    m_session.geometry = saveGeometry();
    m_session.page = page();
    m_session.layout.insert(layoutOf(this)); // of dialogs that are closed it is known already
    m_session.pages = m_pages->states();
    m_files->rememberSession();
    m_session.save();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    CloseAnswer answer = CloseAnswer::stop;
    if (!m_files->mayCloseAll()
        || (m_controller.isRunning() && m_controller.work() != RunController::Work::check
            && (answer = askAboutRun(this, m_options.session)) == CloseAnswer::stay)) {
        event->ignore();
        return;
    }
    saveSession();
    if (m_journal)
        m_journal->discard();
    if (answer == CloseAnswer::leave) {
        m_leftRun = m_controller.isRunning();
        m_controller.leaveBehind();
    }
    m_controller.stop();
    event->accept();
}

} // namespace fourfold::ui
