// SPDX-License-Identifier: GPL-3.0-or-later
// One figure of the answer strip: title, large number with unit, a meter where it is a share, what it is measured
// against, and how sure it is.
#pragma once

#include "app/desktop/widgets/card.h"
#include "app/models/answer.h"

namespace fourfold::ui {

class FigureCard : public Card {
    Q_OBJECT
public:
    explicit FigureCard(QWidget* parent = nullptr);
    void show(const Figure& figure);
    using Card::show;
    [[nodiscard]] const Figure& figure() const { return m_figure; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Figure m_figure;
};

} // namespace fourfold::ui
