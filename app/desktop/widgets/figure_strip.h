// SPDX-License-Identifier: GPL-3.0-or-later
// The five figures over a page.
#pragma once

#include "app/models/answer.h"

#include <QWidget>

#include <array>

namespace fourfold::ui {

class FigureCard;

class FigureStrip : public QWidget {
    Q_OBJECT
public:
    explicit FigureStrip(QWidget* parent = nullptr);
    void showFigures(const std::array<Figure, 5>& figures);
    void setStale(bool stale);
    void setOpens(bool opens); // see FigureCard
    [[nodiscard]] const std::array<FigureCard*, 5>& cards() const { return m_cards; }

signals:
    void activated(int index); // a figure was clicked, or Enter was pressed on it

private:
    std::array<FigureCard*, 5> m_cards{};
};

} // namespace fourfold::ui
