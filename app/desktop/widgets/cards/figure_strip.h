// SPDX-License-Identifier: GPL-3.0-or-later
// The five figures over a page, in two rows where the page is narrow.
#pragma once

#include "app/view/answer.h"

#include <QWidget>

#include <array>

class QHBoxLayout;

namespace fourfold::ui {

class FigureCard;

class FigureStrip : public QWidget {
    Q_OBJECT
public:
    explicit FigureStrip(QWidget* parent = nullptr);
    void showFigures(const std::array<view::Figure, 5>& figures);
    void setStale(bool stale);
    void setOpens(bool opens); // see FigureCard
    [[nodiscard]] const std::array<FigureCard*, 5>& cards() const { return m_cards; }
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void activated(int index); // a figure was clicked, or Enter was pressed on it

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fold();

    std::array<QHBoxLayout*, 2> m_rows;
    std::array<FigureCard*, 5> m_cards{};
    bool m_folded = false; // two rows
};

} // namespace fourfold::ui
