// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/figure_strip.h"

#include "app/desktop/widgets/figure_card.h"

#include <QHBoxLayout>

namespace fourfold::ui {

FigureStrip::FigureStrip(QWidget* parent)
    : QWidget(parent)
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(10);
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        m_cards[i] = new FigureCard;
        row->addWidget(m_cards[i], 1);
        connect(m_cards[i], &FigureCard::activated, this, [this, i] { emit activated(static_cast<int>(i)); });
    }
}

void FigureStrip::showFigures(const std::array<Figure, 5>& figures)
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
