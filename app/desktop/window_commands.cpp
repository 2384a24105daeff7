// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/window_commands.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/plans_dialog.h"
#include "app/desktop/guide_dialog.h"
#include "app/desktop/look/icons.h"
#include "app/desktop/main_window.h"
#include "app/desktop/page_stack.h"
#include "app/desktop/pages/plan/plan_workspace.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/project_files.h"
#include "app/desktop/window_exports.h"
#include "app/desktop/window_fields.h"
#include "app/desktop/window_files.h"
#include "app/desktop/window_tool_bar.h"
#include "app/models/plan/preset_model.h"
#include "app/models/shared/text.h"

#include <QAction>
#include <QActionGroup>
#include <QMenu>
#include <QMenuBar>

namespace fourfold::ui {

namespace {
QKeySequence ctrl(Qt::Key key)
{
    return Qt::CTRL | key;
}

QKeySequence ctrlShift(Qt::Key key)
{
    return Qt::CTRL | Qt::SHIFT | key;
}

QString keysOf(const QAction* action)
{
    return action->shortcut().toString(QKeySequence::NativeText);
}
} // namespace

QString commandOfPage(int index)
{
    return QStringLiteral("view.%1").arg(QLatin1String(pageList()[static_cast<std::size_t>(index)].id));
}

WindowCommands::WindowCommands(MainWindow& window, const Presets& presets)
    : m_window(window)
{
    addFileMenu(presets);
    QUndoGroup& undo = window.plans().undoGroup();
    addMenu(tr("&Edit"),
        {{"edit.undo", tr("Undo"), [&undo] { undo.undo(); }, {ctrl(Qt::Key_Z)}, "undo"},
            {"edit.redo", tr("Redo"), [&undo] { undo.redo(); }, {ctrlShift(Qt::Key_Z)}, "redo"}, {},
            {kFindCommand, tr("&Find a setting or command\u2026"), [&window] { window.findCommand(); },
                {ctrl(Qt::Key_K)}},
            {"edit.fields", tr("Every fi&eld of the plan\u2026"), [&window] { askFields(window); }, {}}});
    addViewMenu();
    addMenu(tr("&Search"),
        {{kSearchCommand, tr("&Search layouts of this plan"), [&window] { window.searchLayouts(); }, {Qt::Key_F6}}});
    addMenu(tr("&Run"),
        {{kRunCommand, tr("&Run this plan\u2026"), [&window] { window.showPage(QStringLiteral("runs")); },
             {Qt::Key_F5}},
            {"run.find-a-cluster", tr("&Find a cluster\u2026"),
                [&window] {
                    window.showPage(QStringLiteral("runs"));
                    window.runsPage().findCluster();
                }},
            {"run.stop-the-run", tr("&Stop the run"), [&window] {
                 if (window.controller().isRunning() && askToStop(&window))
                     window.controller().stop();
             }}});
    addMenu(tr("&Help"),
        {{"help.user's-guide", tr("&User's guide"),
             [&window] {
                 auto* guide = new GuideDialog(&window);
                 guide->setAttribute(Qt::WA_DeleteOnClose);
                 guide->showChapterOf(window.page());
                 guide->show();
             },
             {Qt::Key_F1}},
            {"help.keyboard-shortcuts", tr("&Keyboard shortcuts"), [&window] { window.showKeysDialog(); },
                {Qt::Key_Question}},
            {"help.about-fourfold", tr("&About Fourfold"), [&window] { showAbout(&window); }}});
    connectUndo();
    restoreKeys();
}

QMenu* WindowCommands::addMenu(const QString& title, const std::vector<Entry>& entries)
{
    QMenu* menu = m_window.menuBar()->addMenu(title);
    add(*menu, entries);
    return menu;
}

void WindowCommands::add(QMenu& menu, const std::vector<Entry>& entries)
{
    for (const Entry& entry : entries) {
        if (!entry.id) {
            menu.addSeparator();
            continue;
        }
        const QString id = QString::fromLatin1(entry.id);
        QAction* action = menu.addAction(entry.text);
        action->setShortcuts(entry.keys);
        connect(action, &QAction::triggered, this, entry.run);
        m_actions[id] = action;
        if (entry.icon)
            m_icons[action] = QString::fromLatin1(entry.icon);
        m_window.keys().add(id, menu.title().remove(QLatin1Char('&')), action);
    }
}

QAction* WindowCommands::action(const QString& id) const
{
    return m_actions.at(id);
}

void WindowCommands::addFileMenu(const Presets& presets)
{
    MainWindow& window = m_window;
    PlanFiles& files = window.files();
    QMenu* menu = addMenu(tr("&File"),
        {{"file.new", tr("New"), [&files] { files.newPlan(); }, {QKeySequence(QKeySequence::New), ctrl(Qt::Key_T)},
             "new"},
            {"file.recommend-plan", tr("&Recommend a plan\u2026"), [&files] { files.askRecommendation(); },
                {ctrlShift(Qt::Key_N)}},
            {"file.open", tr("Open"), [&files] { files.askOpen(); }, {QKeySequence(QKeySequence::Open)}, "open"},
            {"file.open-trace", tr("Open &trace of a step\u2026"), [&window] { askOpenTraces(window); }},
            {"file.open-tracker", tr("Open &folder of TensorBoard or wandb\u2026"),
                [&window] { askOpenTracker(window); }}});
    m_recent = menu->addMenu(tr("Open &recent"));
    addProjectMenu(*menu);
    QMenu* examples = menu->addMenu(tr("Open &example"));
    const PresetModel plans(presets, PresetModel::Kind::plans);
    for (int row = 0; row < plans.rowCount(); ++row) {
        const QModelIndex at = plans.index(row);
        const QString id = at.data(PresetModel::IdRole).toString();
        examples->addAction(at.data().toString(), this, [&files, id] { files.openExample(id); });
    }
    examples->setEnabled(plans.rowCount() > 0);
    const auto step = [&window](int by) {
        PlanTabs& tabs = window.plans();
        tabs.setCurrent((tabs.currentIndex() + by + tabs.count()) % tabs.count());
        window.showPage(QStringLiteral("plan"));
    };
    add(*menu,
        {{}, {"file.save", tr("Save"), [&files] { files.save(); }, {QKeySequence(QKeySequence::Save)}, "save"},
            {"file.save-as", tr("Save as\u2026"), [&files] { files.askSaveAs(); }, {ctrlShift(Qt::Key_S)}},
            {"file.duplicate-plan", tr("&Duplicate plan"), [&files] { files.duplicate(); }, {ctrl(Qt::Key_D)}},
            {"file.rename-plan", tr("Re&name plan"),
                [&window] {
                    window.showPage(QStringLiteral("plan"));
                    window.workspace().rename(window.plans().currentIndex());
                },
                {Qt::Key_F2}},
            {"file.close-plan", tr("&Close plan"), [&window, &files] { files.close(window.plans().currentIndex()); },
                {ctrl(Qt::Key_W)}},
            {"file.next-plan", tr("Next plan"), [step] { step(1); }, {ctrl(Qt::Key_Tab)}},
            {"file.previous-plan", tr("Previous plan"), [step] { step(-1); }, {ctrlShift(Qt::Key_Tab)}},
            {"file.open-plans", tr("O&verview of open plans\u2026"), [&window] { window.showOpenPlans(); },
                {ctrlShift(Qt::Key_O)}},
            {}, {"file.import-model", tr("&Import model\u2026"), [&files] { files.askImport(); }},
            {"file.export-timeline", tr("Export &timeline\u2026"), [&window] { askExportTimeline(window); }},
            {"file.export-report", tr("Export re&port\u2026"), [&window] { askExportReport(window); }}, {},
            {"file.quit", tr("&Quit"), [&window] { window.close(); }, {QKeySequence(QKeySequence::Quit)}}});
    showRecent();
}

void WindowCommands::addProjectMenu(QMenu& file)
{
    ProjectFiles& projects = m_window.projects();
    QMenu* menu = file.addMenu(tr("Pro&ject"));
    add(*menu,
        {{"project.new", tr("&New project\u2026"), [&projects] { projects.askNew(); }},
            {"project.open", tr("&Open project\u2026"), [&projects] { projects.askOpen(); }}});
    m_recentProjects = menu->addMenu(tr("Open &recent project"));
    m_projectPlans = menu->addMenu(tr("Other &plans of this project"));
    add(*menu,
        {{}, {"project.save-all", tr("&Save every plan"), [&projects] { projects.saveAll(); }},
            {"project.notes", tr("N&otes of this project\u2026"), [&projects] { projects.askNotes(); }},
            {"project.close", tr("&Close project"), [&projects] { projects.close(); }}});
    connect(m_projectPlans, &QMenu::aboutToShow, this, &WindowCommands::showProject);
    showProject();
}

void WindowCommands::showProject()
{
    ProjectFiles& projects = m_window.projects();
    const auto fill = [this](QMenu& menu, const QStringList& paths, const std::function<void(const QString&)>& run) {
        menu.clear();
        menu.setEnabled(!paths.isEmpty());
        for (const QString& path : paths)
            menu.addAction(path, this, [run, path] { run(path); });
    };
    fill(*m_recentProjects, m_window.session().recentProjects,
        [&projects](const QString& folder) { projects.open(folder.toStdString()); });
    QStringList plans;
    for (const std::filesystem::path& plan : projects.closedPlans())
        plans << exactText(plan.string());
    fill(*m_projectPlans, plans, [this](const QString& file) { m_window.openPlan(file.toStdString()); });
    for (const char* id : {"project.notes", "project.close"})
        action(QString::fromLatin1(id))->setEnabled(projects.project() != nullptr);
}

// Of the File menu's own: it needs nothing of the window but what every command has.
void MainWindow::showOpenPlans()
{
    auto* dialog = new PlansDialog(m_plans, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &PlansDialog::planChosen, this, [this](int index) {
        m_plans.setCurrent(index);
        showPage(QStringLiteral("plan"));
    });
    connect(dialog, &PlansDialog::closeRequested, this, [this](int index) { files().close(index); });
    dialog->show();
}

void WindowCommands::addViewMenu()
{
    MainWindow& window = m_window;
    QMenu* menu = addMenu(tr("&View"), {});
    for (int i = 0; i < static_cast<int>(pageList().size()); ++i)
        add(*menu,
            {{commandOfPage(i).toLatin1().constData(), PageStack::title(i),
                [&window, i] { window.showPage(PageStack::ids()[i]); }, {ctrl(static_cast<Qt::Key>(Qt::Key_1 + i))}}});
    const auto zoomBy = [&window](int by) { window.setUiZoom(window.session().zoom + by); };
    add(*menu,
        {{}, {"view.larger", tr("&Larger"), [zoomBy] { zoomBy(10); }, {ctrl(Qt::Key_Plus), ctrl(Qt::Key_Equal)}},
            {"view.smaller", tr("&Smaller"), [zoomBy] { zoomBy(-10); }, {ctrl(Qt::Key_Minus)}},
            {"view.normal-size", tr("&Normal size"), [&window] { window.setUiZoom(100); }, {ctrl(Qt::Key_0)}}, {}});
    auto* themes = new QActionGroup(this);
    const auto addTheme = [&](const char* id, const QString& text, ThemeChoice choice) {
        add(*menu, {{id, text, [&window, choice] { window.setTheme(choice); }}});
        QAction* theme = action(QString::fromLatin1(id));
        theme->setObjectName(QStringLiteral("theme.") + spelling(choice));
        theme->setCheckable(true);
        theme->setChecked(window.session().theme == choice);
        themes->addAction(theme);
    };
    addTheme("view.as-the-system", tr("As the s&ystem"), ThemeChoice::system);
    addTheme("view.light", tr("L&ight"), ThemeChoice::light);
    addTheme("view.dark", tr("&Dark"), ThemeChoice::dark);
    add(*menu,
        {{},
            {"view.kernels", tr("&Kernels of a step\u2026"), [&window] { showKernels(window); },
                {ctrlShift(Qt::Key_K)}},
            {"view.show-picture-as-table", tr("Show picture as &table"), [&window] { showFocusedAsTable(window); },
                {ctrlShift(Qt::Key_T)}},
            {"view.restore-default-layout", tr("&Restore default layout"),
                [&window] { window.restoreDefaultLayout(); }},
            {"view.filter-results-or-runs", tr("&Filter results or runs"),
                [&window] {
                    if (window.pages().current().focusFilter())
                        return;
                    window.showPage(QStringLiteral("history"));
                    window.pages().current().focusFilter();
                },
                {Qt::Key_Slash}}});
}

void WindowCommands::connectUndo()
{
    QUndoGroup& undo = m_window.plans().undoGroup();
    for (const char* id : {"edit.undo", "edit.redo"})
        action(QString::fromLatin1(id))->setEnabled(false);
    connect(&undo, &QUndoGroup::canUndoChanged, action(QStringLiteral("edit.undo")), &QAction::setEnabled);
    connect(&undo, &QUndoGroup::canRedoChanged, action(QStringLiteral("edit.redo")), &QAction::setEnabled);
    connect(&undo, &QUndoGroup::undoTextChanged, this, &WindowCommands::showUndoTips);
    connect(&undo, &QUndoGroup::redoTextChanged, this, &WindowCommands::showUndoTips);
}

void WindowCommands::restoreKeys()
{
    KeyBindings& keys = m_window.keys();
    keys.reserve({Qt::Key_W, Qt::Key_S, Qt::Key_A, Qt::Key_D, Qt::Key_Z, Qt::Key_F, Qt::Key_M, Qt::Key_O, Qt::Key_P,
                     Qt::Key_C, Qt::Key_Backspace, Qt::Key_Delete, Qt::Key_Return, Qt::Key_Enter, Qt::Key_Escape,
                     Qt::Key_Tab, Qt::Key_Space, Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, ctrl(Qt::Key_C),
                     ctrl(Qt::Key_Return), ctrl(Qt::Key_PageUp), ctrl(Qt::Key_PageDown)},
        tr("Pictures and tables"));
    keys.restore(m_window.session().keys);
}

// With each edit: nothing else that names keys changes then.
void WindowCommands::showUndoTips()
{
    const QUndoGroup& undo = m_window.plans().undoGroup();
    const auto show
        = [](QAction* action, const QString& text) { action->setToolTip(withKeys(text.trimmed(), keysOf(action))); };
    show(action(QStringLiteral("edit.undo")), tr("Undo %1").arg(undo.undoText()));
    show(action(QStringLiteral("edit.redo")), tr("Redo %1").arg(undo.redoText()));
}

void WindowCommands::showKeys()
{
    for (const char* id : {"file.new", "file.open", "file.save"}) {
        QAction* named = action(QString::fromLatin1(id));
        named->setToolTip(withKeys(named->text(), keysOf(named)));
    }
    showUndoTips();
}

void WindowCommands::showRecent()
{
    m_recent->clear();
    m_recent->setEnabled(!m_window.session().recentPlans.isEmpty());
    for (const QString& file : m_window.session().recentPlans)
        m_recent->addAction(file, this, [this, file] { m_window.openPlan(file.toStdString()); });
}

void WindowCommands::showIcons()
{
    const Theme& theme = themeOf(&m_window);
    for (const auto& [action, icon] : m_icons)
        action->setIcon(themedIcon(icon, theme));
}

} // namespace fourfold::ui
