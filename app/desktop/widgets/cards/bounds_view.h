// SPDX-License-Identifier: GPL-3.0-or-later
// Compute- or communication-bound, for each parallelism on each kind of link: the two times of the condition as bars,
// and the condition with its numbers.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "core/predict/bounds.h"

namespace fourfold::ui {

class BoundsView : public Card {
    Q_OBJECT
public:
    explicit BoundsView(QWidget* parent = nullptr);
    void showBounds(Bounds bounds);
    void clear();
    [[nodiscard]] QSize minimumSizeHint() const override { return least(320, 170); }
    [[nodiscard]] Table table() const override;

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_bounds.links.empty(); }
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    [[nodiscard]] double rowHeight(const QRect& area) const;
    void paintRow(
        QPainter& painter, const QRectF& line, const LinkBound& link, double longest, const Theme& theme) const;

    Bounds m_bounds;
};

} // namespace fourfold::ui
