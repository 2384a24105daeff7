// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/window_tool_bar.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/page_stack.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/window_commands.h"
#include "app/models/shared/key_bindings.h"

#include <QAction>
#include <QPushButton>
#include <QTabBar>

namespace fourfold::ui {

QString withKeys(const QString& text, const QString& keys)
{
    return keys.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, keys);
}

WindowToolBar::WindowToolBar(const QList<QAction*>& files, const QList<QAction*>& edits, const KeyBindings& keys)
    : m_keys(keys)
    , m_pages(makeTabs("modes", tr("Mode")))
{
    m_pages->setProperty("look", "modes");
    setWindowTitle(tr("Main"));
    setObjectName(QStringLiteral("mainToolBar"));
    setMovable(false);
    setContextMenuPolicy(Qt::PreventContextMenu);
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    addActions(files);
    addSeparator();
    addActions(edits);
    addSeparator();

    for (int i = 0; i < static_cast<int>(pageList().size()); ++i)
        m_pages->addTab(PageStack::title(i));
    connect(m_pages, &QTabBar::currentChanged, this, [this](int index) {
        m_pages->updateGeometry(); // the chosen one is bold and wider
        emit pageChosen(index);
    });
    addWidget(m_pages);

    auto* space = new QWidget;
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(space);
    const auto add = [this](const QString& text, const char* look, const char* name, void (WindowToolBar::*clicked)()) {
        QPushButton* button = makeButton(text, look, name);
        connect(button, &QPushButton::clicked, this, clicked);
        return button;
    };
    m_find = add({}, "finder", "find", &WindowToolBar::findRequested);
    m_find->setAccessibleName(tr("Find a setting or command"));
    addWidget(m_find);
    m_search = add(tr("Search layouts"), "plain", "searchLayouts", &WindowToolBar::searchRequested);
    m_searchAction = addWidget(m_search);
    m_run = add(tr("Run\u2026"), "primary", "run", &WindowToolBar::runRequested);
    m_runAction = addWidget(m_run);
}

void WindowToolBar::showPage(int index)
{
    if (m_pages->currentIndex() != index)
        m_pages->setCurrentIndex(index);
    const PageEntry& entry = pageList()[static_cast<std::size_t>(index)];
    m_runAction->setVisible(entry.offersRun);
    m_searchAction->setVisible(entry.offersSearch);
    measure();
}

void WindowToolBar::showRunning(const QString& state)
{
    const int runs = PageStack::indexOf(QStringLiteral("runs"));
    const QString title = PageStack::title(runs);
    const QString text = state.isEmpty() ? title : QStringLiteral("%1 \u2022").arg(title);
    m_pages->setTabToolTip(runs, withKeys(state.isEmpty() ? title : state, m_keys.keysOf(commandOfPage(runs))));
    if (m_pages->tabText(runs) == text)
        return;
    m_pages->setTabText(runs, text);
    measure();
}

void WindowToolBar::showKeys()
{
    for (int i = 0; i < m_pages->count(); ++i)
        m_pages->setTabToolTip(i, withKeys(PageStack::title(i), m_keys.keysOf(commandOfPage(i))));
    m_find->setToolTip(withKeys(tr("Find a setting or command"), m_keys.keysOf(QLatin1String(kFindCommand))));
    m_search->setToolTip(withKeys(tr("Every layout that this plan's model, cluster and batch allow"),
        m_keys.keysOf(QLatin1String(kSearchCommand))));
    m_run->setToolTip(withKeys(tr("Choose where to run this plan"), m_keys.keysOf(QLatin1String(kRunCommand))));
    m_find->setText({}); // written again, with its keys
    measure();
}

void WindowToolBar::measure()
{
    setIconSize({px(16), px(16)});
    m_wordyWidth = 0;
    fit();
}

void WindowToolBar::fit()
{
    if (m_wordyWidth == 0) {
        showWords(true);
        m_wordyWidth = sizeHint().width();
    }
    showWords(window()->width() >= m_wordyWidth);
}

void WindowToolBar::showWords(bool words)
{
    const Qt::ToolButtonStyle style = words ? Qt::ToolButtonTextBesideIcon : Qt::ToolButtonIconOnly;
    if (toolButtonStyle() == style && !m_find->text().isEmpty())
        return;
    setToolButtonStyle(style);
    const QString keys = m_keys.keysOf(QLatin1String(kFindCommand));
    m_find->setText((words ? tr("Find a setting or command") : tr("Find"))
        + (keys.isEmpty() ? keys : QStringLiteral("   ") + keys));
}

} // namespace fourfold::ui
