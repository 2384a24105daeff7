// SPDX-License-Identifier: GPL-3.0-or-later
// Tool bar, menus and status bar of the main window.
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/guide_dialog.h"
#include "app/desktop/look/icons.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/history_page.h"
#include "app/desktop/pages/search_page.h"
#include "app/desktop/plan_files.h"
#include "app/models/plan/preset_model.h"

#include <QAction>
#include <QActionGroup>
#include <QCoreApplication>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QShortcut>
#include <QStatusBar>
#include <QTabBar>
#include <QToolBar>

namespace fourfold::ui {

namespace {
QString keysOf(const QAction* action)
{
    return action->shortcut().toString(QKeySequence::NativeText);
}

QString with(const QString& text, const QString& keys)
{
    return keys.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, keys);
}
} // namespace

void MainWindow::makeActions()
{
    const auto make = [this](const QString& text, const QString& icon, const QKeySequence& keys, auto slot) {
        auto* action = new QAction(text, this);
        action->setShortcut(keys);
        connect(action, &QAction::triggered, this, slot);
        m_icons.push_back({action, icon});
        return action;
    };
    m_newAction = make(tr("New"), QStringLiteral("new"), QKeySequence::New, [this] { m_files->newPlan(); });
    m_openAction = make(tr("Open"), QStringLiteral("open"), QKeySequence::Open, [this] { m_files->askOpen(); });
    m_saveAction = make(tr("Save"), QStringLiteral("save"), QKeySequence::Save, [this] { m_files->save(); });
    m_saveAsAction = new QAction(tr("Save as\u2026"), this);
    m_saveAsAction->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S));
    connect(m_saveAsAction, &QAction::triggered, this, [this] { m_files->askSaveAs(); });

    QUndoGroup& undo = m_plans.undoGroup();
    m_undoAction
        = make(tr("Undo"), QStringLiteral("undo"), QKeySequence(Qt::CTRL | Qt::Key_Z), [&undo] { undo.undo(); });
    m_redoAction = make(
        tr("Redo"), QStringLiteral("redo"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), [&undo] { undo.redo(); });
    m_undoAction->setEnabled(false);
    m_redoAction->setEnabled(false);
    connect(&undo, &QUndoGroup::canUndoChanged, m_undoAction, &QAction::setEnabled);
    connect(&undo, &QUndoGroup::canRedoChanged, m_redoAction, &QAction::setEnabled);
    connect(&undo, &QUndoGroup::undoTextChanged, this, &MainWindow::showUndoTips);
    connect(&undo, &QUndoGroup::redoTextChanged, this, &MainWindow::showUndoTips);
}

void MainWindow::makeToolBar()
{
    QToolBar* bar = addToolBar(tr("Main"));
    bar->setObjectName(QStringLiteral("mainToolBar"));
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_toolBar = bar;
    bar->addActions({m_newAction, m_openAction, m_saveAction});
    bar->addSeparator();
    bar->addActions({m_undoAction, m_redoAction});
    bar->addSeparator();

    m_modes = new QTabBar;
    m_modes->setObjectName(QStringLiteral("modes"));
    m_modes->setDrawBase(false);
    m_modes->setExpanding(false);
    m_modes->setAccessibleName(tr("Mode"));
    const QStringList names{tr("Plan"), tr("Search"), tr("Compare"), tr("Runs"), tr("History")};
    for (const QString& name : names)
        m_modes->addTab(name);
    connect(m_modes, &QTabBar::currentChanged, this, [this](int index) {
        m_modes->updateGeometry(); // the chosen one is bold and wider
        showPage(static_cast<Page>(index));
    });
    bar->addWidget(m_modes);

    auto* space = new QWidget;
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(space);
    auto* find = new QPushButton;
    m_find = find;
    find->setAccessibleName(tr("Find a setting or command"));
    find->setProperty("finder", true);
    find->setObjectName(QStringLiteral("find"));
    connect(find, &QPushButton::clicked, this, &MainWindow::findCommand);
    bar->addWidget(find);
    auto* searchLayouts = new QPushButton(tr("Search layouts"));
    searchLayouts->setProperty("plain", true);
    searchLayouts->setObjectName(QStringLiteral("searchLayouts"));
    m_searchLayouts = searchLayouts;
    connect(searchLayouts, &QPushButton::clicked, this, [this] {
        showPage(Page::search);
        m_search->start();
    });
    m_searchAction = bar->addWidget(searchLayouts);
    m_run = new QPushButton(tr("Run\u2026"));
    m_run->setProperty("primary", true);
    m_run->setObjectName(QStringLiteral("run"));
    connect(m_run, &QPushButton::clicked, this, [this] { showPage(Page::runs); });
    m_runAction = bar->addWidget(m_run);
}

// Pictures without words where the window is too narrow for both.
void MainWindow::fitToolBar()
{
    if (m_wordyWidth == 0) {
        showToolBarWords(true);
        m_wordyWidth = m_toolBar->sizeHint().width();
    }
    showToolBarWords(width() >= m_wordyWidth);
}

void MainWindow::showToolBarWords(bool words)
{
    const Qt::ToolButtonStyle style = words ? Qt::ToolButtonTextBesideIcon : Qt::ToolButtonIconOnly;
    if (m_toolBar->toolButtonStyle() == style && !m_find->text().isEmpty())
        return;
    m_toolBar->setToolButtonStyle(style);
    const QString keys = m_keys.keysOf(QStringLiteral("edit.find-a-setting-or-command"));
    m_find->setText((words ? tr("Find a setting or command") : tr("Find"))
        + (keys.isEmpty() ? keys : QStringLiteral("   ") + keys));
}

void MainWindow::makeMenus()
{
    makeFileMenu();
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    edit->addActions({m_undoAction, m_redoAction});
    edit->addSeparator();
    edit->addAction(
        tr("&Find a setting or command\u2026"), QKeySequence(Qt::CTRL | Qt::Key_K), this, &MainWindow::findCommand);
    makeViewMenu();
    QMenu* search = menuBar()->addMenu(tr("&Search"));
    search->addAction(tr("&Search layouts of this plan"), QKeySequence(Qt::Key_F6), this, [this] {
        showPage(Page::search);
        m_search->start();
    });
    QMenu* run = menuBar()->addMenu(tr("&Run"));
    run->addAction(tr("&Run this plan\u2026"), QKeySequence(Qt::Key_F5), this, [this] { showPage(Page::runs); });
    run->addAction(tr("&Stop the run"), this, [this] { m_controller.stop(); });
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&User's guide"), QKeySequence(Qt::Key_F1), this, [this] {
        auto* guide = new GuideDialog(this);
        guide->setAttribute(Qt::WA_DeleteOnClose);
        guide->showChapter(static_cast<int>(page()) + 1); // the first is the tour
        guide->show();
    });
    help->addAction(tr("&Keyboard shortcuts"), QKeySequence(Qt::Key_Question), this, &MainWindow::showKeysDialog);
    help->addAction(tr("&About Fourfold"), this, [this] { showAbout(this); });
}

void MainWindow::makeFileMenu()
{
    QMenu* file = menuBar()->addMenu(tr("&File"));
    m_newAction->setShortcuts({QKeySequence(QKeySequence::New), QKeySequence(Qt::CTRL | Qt::Key_T)});
    file->addActions({m_newAction, m_openAction});
    m_recent = file->addMenu(tr("Open &recent"));
    QMenu* examples = file->addMenu(tr("Open &example"));
    const PresetModel plans(m_presets, PresetModel::Kind::plans);
    for (int row = 0; row < plans.rowCount(); ++row) {
        const QModelIndex at = plans.index(row);
        const QString id = at.data(PresetModel::IdRole).toString();
        examples->addAction(at.data().toString(), this, [this, id] { m_files->openExample(id); });
    }
    examples->setEnabled(plans.rowCount() > 0);
    file->addSeparator();
    file->addActions({m_saveAction, m_saveAsAction});
    file->addAction(tr("&Duplicate plan"), QKeySequence(Qt::CTRL | Qt::Key_D), this, [this] { m_files->duplicate(); });
    file->addAction(tr("&Close plan"), QKeySequence(Qt::CTRL | Qt::Key_W), this,
        [this] { m_files->close(m_plans.currentIndex()); });
    const auto step = [this](int by) {
        m_plans.setCurrent((m_plans.currentIndex() + by + m_plans.count()) % m_plans.count());
        showPage(Page::plan);
    };
    file->addAction(tr("Next plan"), QKeySequence(Qt::CTRL | Qt::Key_Tab), this, [step] { step(1); });
    file->addAction(tr("Previous plan"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Tab), this, [step] { step(-1); });
    file->addSeparator();
    file->addAction(tr("&Import model\u2026"), this, [this] { m_files->askImport(); });
    file->addAction(tr("Export &timeline\u2026"), this, &MainWindow::askExportTimeline);
    file->addAction(tr("Export re&port\u2026"), this, &MainWindow::askExportReport);
    file->addSeparator();
    file->addAction(tr("&Quit"), QKeySequence(QKeySequence::Quit), this, &QWidget::close);
    showRecent();
}

void MainWindow::makeViewMenu()
{
    QMenu* view = menuBar()->addMenu(tr("&View"));
    for (int i = 0; i < m_modes->count(); ++i)
        view->addAction(m_modes->tabText(i), QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)), this,
            [this, i] { showPage(static_cast<Page>(i)); });
    view->addSeparator();
    QAction* larger = view->addAction(tr("&Larger"), this, [this] { setUiZoom(m_session.zoom + 10); });
    larger->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    view->addAction(
        tr("&Smaller"), QKeySequence(Qt::CTRL | Qt::Key_Minus), this, [this] { setUiZoom(m_session.zoom - 10); });
    view->addAction(tr("&Normal size"), QKeySequence(Qt::CTRL | Qt::Key_0), this, [this] { setUiZoom(100); });
    view->addSeparator();
    auto* themes = new QActionGroup(this);
    const auto add = [&](const QString& text, ThemeChoice choice) {
        QAction* action = view->addAction(text, this, [this, choice] { setTheme(choice); });
        action->setObjectName(QStringLiteral("theme.") + spelling(choice));
        action->setCheckable(true);
        action->setChecked(m_session.theme == choice);
        themes->addAction(action);
    };
    add(tr("As the s&ystem"), ThemeChoice::system);
    add(tr("L&ight"), ThemeChoice::light);
    add(tr("&Dark"), ThemeChoice::dark);
    view->addSeparator();
    view->addAction(tr("Show picture as &table"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_T), this,
        &MainWindow::showFocusedAsTable);
    view->addAction(tr("&Restore default layout"), this, &MainWindow::restoreDefaultLayout);
    view->addAction(tr("&Filter results or runs"), QKeySequence(Qt::Key_Slash), this, [this] {
        if (page() == Page::search) {
            m_search->focusFilter();
            return;
        }
        showPage(Page::history);
        m_history->focusFilter();
    });
}

// Commands are called by their menu and their words in the language of the source: "view.normal-size".
void MainWindow::gatherKeys()
{
    const auto plain = [](const QString& text) { return QString(text).remove(QLatin1Char('&')).remove(QChar(0x2026)); };
    for (const QAction* top : menuBar()->actions()) {
        for (QAction* action : top->menu()->actions()) {
            if (action->isSeparator() || action->menu())
                continue;
            const QString group = plain(top->text());
            QString id = QStringLiteral("%1.%2").arg(group, plain(action->text())).toLower();
            m_keys.add(id.replace(QLatin1Char(' '), QLatin1Char('-')), group, action);
        }
    }
    m_keys.reserve({Qt::Key_W, Qt::Key_S, Qt::Key_A, Qt::Key_D, Qt::Key_Z, Qt::Key_F, Qt::Key_M, Qt::Key_P, Qt::Key_C,
                       Qt::Key_Backspace, Qt::Key_Delete, Qt::Key_Return, Qt::Key_Enter, Qt::Key_Escape, Qt::Key_Tab,
                       Qt::Key_Space, Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::CTRL | Qt::Key_C,
                       Qt::CTRL | Qt::Key_Return, Qt::CTRL | Qt::Key_PageUp, Qt::CTRL | Qt::Key_PageDown},
        tr("Pictures and tables"));
    m_keys.restore(m_session.keys);
    connect(&m_keys, &KeyBindings::changed, this, [this] {
        m_session.keys = m_keys.chosen();
        showKeys();
    });
    showKeys();
}

// With each edit: nothing else that names keys changes then.
void MainWindow::showUndoTips()
{
    const QUndoGroup& undo = m_plans.undoGroup();
    m_undoAction->setToolTip(with(tr("Undo %1").arg(undo.undoText()).trimmed(), keysOf(m_undoAction)));
    m_redoAction->setToolTip(with(tr("Redo %1").arg(undo.redoText()).trimmed(), keysOf(m_redoAction)));
}

void MainWindow::showKeys()
{
    for (QAction* action : {m_newAction, m_openAction, m_saveAction})
        action->setToolTip(with(action->text(), keysOf(action)));
    showUndoTips();
    for (int i = 0; i < m_modes->count(); ++i)
        m_modes->setTabToolTip(
            i, with(m_modes->tabText(i), m_keys.keysOf(QStringLiteral("view.") + m_modes->tabText(i).toLower())));
    m_find->setToolTip(
        with(tr("Find a setting or command"), m_keys.keysOf(QStringLiteral("edit.find-a-setting-or-command"))));
    m_searchLayouts->setToolTip(with(tr("Every layout that this plan's model, cluster and batch allow"),
        m_keys.keysOf(QStringLiteral("search.search-layouts-of-this-plan"))));
    m_run->setToolTip(with(tr("Choose where to run this plan"), m_keys.keysOf(QStringLiteral("run.run-this-plan"))));
    m_find->setText({}); // written anew, with its keys
    m_wordyWidth = 0;
    fitToolBar();
}

void MainWindow::makeStatusBar()
{
    m_evaluated = new QLabel;
    m_evidence = new QLabel;
    auto* version = new QLabel(tr("Fourfold %1").arg(QCoreApplication::applicationVersion()));
    for (QLabel* label : {m_evaluated, m_evidence, version}) {
        label->setProperty("role", "muted");
        label->setContentsMargins(8, 0, 8, 0);
    }
    statusBar()->addWidget(m_evaluated);
    statusBar()->addPermanentWidget(m_evidence);
    statusBar()->addPermanentWidget(version);
    statusBar()->setSizeGripEnabled(false);
}

void MainWindow::showRecent()
{
    m_recent->clear();
    m_recent->setEnabled(!m_session.recentPlans.isEmpty());
    for (const QString& file : m_session.recentPlans)
        m_recent->addAction(file, this, [this, file] { openPlan(file.toStdString()); });
}

void MainWindow::showIcons()
{
    const Theme& theme = themeOf(this);
    for (const IconAction& entry : m_icons)
        entry.action->setIcon(themedIcon(entry.icon, theme));
}

} // namespace fourfold::ui
