// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/plan_workspace.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/models/shared/text.h"
#include "core/plan/fields.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>

#include <utility>

namespace fourfold::ui {

namespace {
const QString kTimelines = QStringLiteral("timelines"); // of the session
}

PlanWorkspace::PlanWorkspace(PlanTabs& plans)
    : m_plans(plans)
    , m_tabs(makeTabs("planTabs", tr("Open plans")))
    , m_pages(new QStackedWidget)
    , m_name(named(new QLineEdit(m_tabs), "planName", tr("Name of the plan")))
{
    m_name->hide();
    m_name->installEventFilter(this);
    connect(m_name, &QLineEdit::returnPressed, this, [this] { endRename(true); });
    connect(m_tabs, &QTabBar::tabBarDoubleClicked, this, &PlanWorkspace::rename);
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

QVariantMap PlanWorkspace::state() const
{
    QVariantMap timelines;
    for (int i = 0; i < m_plans.count(); ++i) {
        const QVariantMap place = static_cast<PlanPage*>(m_pages->widget(i))->place();
        if (const std::filesystem::path& file = m_plans.document(i).file(); !file.empty() && !place.isEmpty())
            timelines.insert(exactText(std::filesystem::absolute(file).string()), place);
    }
    return timelines.isEmpty() ? QVariantMap() : QVariantMap{{kTimelines, timelines}};
}

void PlanWorkspace::restore(const QVariantMap& state)
{
    const QVariantMap timelines = state.value(kTimelines).toMap();
    for (auto at = timelines.begin(); at != timelines.end(); ++at) {
        const int index = m_plans.indexOf(std::filesystem::path(at.key().toStdString()));
        if (index >= 0)
            static_cast<PlanPage*>(m_pages->widget(index))->setPlace(at->toMap());
    }
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
    const QString name = document.lastResolved() ? fromUtf8(document.lastResolved()->name) : QString();
    QStringList tip{name, fromUtf8(document.file().string())};
    tip.removeAll(QString());
    m_tabs->setTabToolTip(index, tip.join(QLatin1Char('\n')));
}

void PlanWorkspace::rename(int index)
{
    if (index < 0 || index >= m_plans.count())
        return;
    m_plans.setCurrent(index);
    m_renamed = &m_plans.document(index);
    m_tabs->setAutoHide(false); // one plan has no tab else
    m_tabs->show();
    const Json name = value_at(m_renamed->plan().document, "name");
    m_name->setText(name.is_string() ? fromUtf8(name.get<std::string>()) : m_renamed->title());
    const QRect tab = m_tabs->tabRect(index);
    m_name->setGeometry(QRect(tab.topLeft(), tab.size().expandedTo({px(220), tab.height()})));
    m_name->show();
    m_name->selectAll();
    m_name->setFocus();
}

void PlanWorkspace::endRename(bool take)
{
    const PlanDocument* renamed = std::exchange(m_renamed, nullptr);
    if (!renamed)
        return;
    const QString name = m_name->text().trimmed();
    m_name->hide(); // its focus goes, which ends here again
    m_tabs->setAutoHide(true);
    if (const int index = m_plans.indexOf(*renamed); take && index >= 0 && !name.isEmpty()) {
        m_plans.document(index).setValue("name", name.toStdString(), tr("Rename the plan"), false);
        showTitle(index);
    }
}

bool PlanWorkspace::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_name && event->type() == QEvent::FocusOut)
        endRename(true);
    const bool escapes = watched == m_name && event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
    if (escapes)
        endRename(false);
    return escapes || Page::eventFilter(watched, event);
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
