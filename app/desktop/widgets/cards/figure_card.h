// SPDX-License-Identifier: GPL-3.0-or-later
// One figure of the answer strip: title, large number with unit, a meter where it is a share, what it is measured
// against, and how sure it is.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/view/answer.h"

namespace fourfold::ui {

class FigureCard : public Card {
    Q_OBJECT
public:
    static constexpr int kLeastWidth = 136; // at 100 %
    explicit FigureCard(QWidget* parent = nullptr);
    void show(const view::Figure& figure);
    using Card::show;
    [[nodiscard]] const view::Figure& figure() const { return m_figure; }
    // Whether a click or Enter opens something: the pointer and the focus ring say so.
    void setOpens(bool opens);
    [[nodiscard]] Table table() const override;
    [[nodiscard]] QString tip() const; // basis, confidence, detail, derivation

signals:
    void activated();

protected:
    [[nodiscard]] QString tipAt(const QPoint& point) const override;
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    view::Figure m_figure;
    bool m_opens = false;
};

} // namespace fourfold::ui
