// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/plan_workspace.h"

#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/models/shared/text.h"

#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>

namespace fourfold::ui {

PlanWorkspace::PlanWorkspace(PlanTabs& plans)
    : m_plans(plans)
    , m_tabs(makeTabs("planTabs", tr("Open plans")))
    , m_pages(new QStackedWidget)
{
    m_tabs->setAutoHide(true);
    m_tabs->setTabsClosable(true);
    m_tabs->setMovable(true);
    m_tabs->setElideMode(Qt::ElideMiddle);
    m_tabs->setUsesScrollButtons(true);
    setLayout(columnOf({m_tabs, {m_pages, 1}}));
    for (int i = 0; i < plans.count(); ++i)
        insert(i);
    connect(&plans, &PlanTabs::added, this, &PlanWorkspace::insert);
    connect(&plans, &PlanTabs::removed, this, [this](int index) {
        QWidget* page = m_pages->widget(index);
        m_pages->removeWidget(page);
        delete page; // at once: its document is gone
        const QSignalBlocker blocker(m_tabs);
        m_tabs->removeTab(index);
        showCurrent();
    });
    connect(&plans, &PlanTabs::titleChanged, this, &PlanWorkspace::showTitle);
    connect(&plans, &PlanTabs::currentChanged, this, &PlanWorkspace::showCurrent);
    connect(m_tabs, &QTabBar::currentChanged, &plans, &PlanTabs::setCurrent);
    connect(m_tabs, &QTabBar::tabCloseRequested, this, &PlanWorkspace::closeRequested);
    connect(m_tabs, &QTabBar::tabMoved, this, [this](int from, int to) {
        QWidget* page = m_pages->widget(from);
        m_pages->removeWidget(page);
        m_pages->insertWidget(to, page);
        m_plans.move(from, to);
        showCurrent();
    });
    showCurrent();
}

PlanPage& PlanWorkspace::current() const
{
    return *static_cast<PlanPage*>(m_pages->widget(m_plans.currentIndex()));
}

QWidget& PlanWorkspace::settings()
{
    return current();
}

void PlanWorkspace::insert(int index)
{
    auto* page = new PlanPage(m_plans.document(index));
    connect(page, &PlanPage::importRequested, this, &PlanWorkspace::importRequested);
    if (m_pages->count() > 0) // a new tab looks like the one it was opened from
        applyLayout(page, layoutOf(m_pages->currentWidget()));
    m_pages->insertWidget(index, page);
    const QSignalBlocker blocker(m_tabs);
    m_tabs->insertTab(index, QString());
    showTitle(index);
}

void PlanWorkspace::showTitle(int index)
{
    const PlanDocument& document = m_plans.document(index);
    // An ampersand would be taken for a mnemonic.
    const QString title = document.title().replace(QLatin1Char('&'), QStringLiteral("&&"));
    const QString text = document.isDirty() ? QStringLiteral("%1 \u2022").arg(title) : title;
    if (m_tabs->tabText(index) != text) // every edit comes by here
        m_tabs->setTabText(index, text);
    m_tabs->setTabToolTip(index, fromUtf8(document.file().string()));
}

void PlanWorkspace::showCurrent()
{
    const int index = m_plans.currentIndex();
    if (index >= m_pages->count())
        return; // between two signals of one change
    m_pages->setCurrentIndex(index);
    const QSignalBlocker blocker(m_tabs);
    m_tabs->setCurrentIndex(index);
}

} // namespace fourfold::ui
