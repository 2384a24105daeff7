// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/card_stack.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/panels/arrange.h"

#include <QEvent>
#include <QShortcut>
#include <QStackedLayout>
#include <QTabBar>

namespace fourfold::ui {

CardStack::CardStack(const QList<Entry>& entries, QWidget* parent)
    : QWidget(parent)
    , m_cards(new QStackedLayout(this))
    , m_switch(makeTabs("cardSwitch", tr("Picture")))
    , m_entries(entries)
{
    m_switch->setProperty("look", "switch");
    m_switch->setParent(this);
    m_switch->setUsesScrollButtons(false);
    for (const Entry& entry : entries) {
        m_cards->addWidget(entry.card);
        m_switch->addTab(entry.name);
    }
    connect(m_switch, &QTabBar::currentChanged, this, [this](int index) {
        m_cards->setCurrentIndex(index);
        m_switch->raise();
        emit currentChanged(index);
    });
    for (const auto& [keys, by] : {std::pair(QKeySequence(Qt::CTRL | Qt::Key_PageDown), 1),
             std::pair(QKeySequence(Qt::CTRL | Qt::Key_PageUp), -1)}) {
        auto* shortcut = new QShortcut(keys, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, [this, by = by] {
            setCurrent((current() + by + m_switch->count()) % m_switch->count());
            m_entries[current()].card->setFocus();
        });
    }
    place();
}

void CardStack::setCurrent(int index)
{
    m_switch->setCurrentIndex(index);
}

void CardStack::setCurrent(const Card& card)
{
    for (int i = 0; i < m_entries.size(); ++i) {
        if (m_entries[i].card == &card)
            setCurrent(i);
    }
}

int CardStack::current() const
{
    return m_switch->currentIndex();
}

void CardStack::place()
{
    const QSize size = m_switch->sizeHint();
    m_switch->setGeometry(width() - size.width() - px(10), px(4), size.width(), size.height());
    m_switch->raise();
    for (const Entry& entry : m_entries)
        entry.card->setHeaderReserve(size.width());
}

void CardStack::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

void CardStack::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        place();
}

} // namespace fourfold::ui
