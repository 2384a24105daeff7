// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/figure_strip.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/panels/arrange.h"

#include <QEvent>
#include <QHBoxLayout>

namespace fourfold::ui {

namespace {
constexpr int kGap = 10;
constexpr int kCardWidth = FigureCard::kLeastWidth;
constexpr std::size_t kUpper = 3; // cards in the upper of two rows

int widthOf(std::size_t cards)
{
    return static_cast<int>(cards) * px(kCardWidth) + (static_cast<int>(cards) - 1) * kGap;
}
} // namespace

FigureStrip::FigureStrip(QWidget* parent)
    : QWidget(parent)
    , m_rows{new QHBoxLayout, new QHBoxLayout}
{
    setLayout(columnOf({m_rows[0], m_rows[1]}, kGap));
    for (QHBoxLayout* row : m_rows)
        row->setSpacing(kGap);
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        m_cards[i] = new FigureCard;
        m_rows[0]->addWidget(m_cards[i], 1);
        connect(m_cards[i], &FigureCard::activated, this, [this, i] { emit activated(static_cast<int>(i)); });
    }
}

QSize FigureStrip::minimumSizeHint() const
{
    return {widthOf(kUpper), QWidget::minimumSizeHint().height()};
}

void FigureStrip::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fold();
}

void FigureStrip::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) // the cards want another width
        fold();
}

// In one row where they have room, else in two.
void FigureStrip::fold()
{
    const bool folded = width() < widthOf(m_cards.size());
    if (folded == m_folded)
        return;
    m_folded = folded;
    for (std::size_t i = kUpper; i < m_cards.size(); ++i) {
        m_rows[m_folded ? 0 : 1]->removeWidget(m_cards[i]);
        m_rows[m_folded ? 1 : 0]->addWidget(m_cards[i], 1);
    }
    layout()->activate(); // who draws the strip at once, into a file, does not wait for events
    updateGeometry();
}

void FigureStrip::showFigures(const std::array<view::Figure, 5>& figures)
{
    for (std::size_t i = 0; i < figures.size(); ++i)
        m_cards[i]->show(figures[i]);
}

void FigureStrip::setOpens(bool opens)
{
    for (FigureCard* card : m_cards)
        card->setOpens(opens);
}

void FigureStrip::setStale(bool stale)
{
    for (FigureCard* card : m_cards)
        card->setStale(stale);
}

} // namespace fourfold::ui
