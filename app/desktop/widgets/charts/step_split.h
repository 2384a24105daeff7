// SPDX-License-Identifier: GPL-3.0-or-later
// Where the step time goes: one bar per part, the exposed share solid and the share hidden behind compute pale.
#pragma once

#include "app/desktop/look/theme.h"
#include "app/desktop/widgets/cards/card.h"
#include "core/predict/prediction.h"

#include <vector>

namespace fourfold::ui {

struct PartLook {
    QColor Theme::*color;
    Card::Fill fill;
};
PartLook lookOf(Part part);
PartLook stackedLookOf(Part part); // in one bar the parts of communication differ as well

class StepSplit : public Card {
    Q_OBJECT
public:
    explicit StepSplit(QWidget* parent = nullptr);
    void showParts(const Prediction& prediction);
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] Table table() const override;
    void setSelected(int row); // -1 = none

signals:
    void partActivated(const QString& part); // double click or Enter; as the engine names it

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_rows.empty(); }
    [[nodiscard]] QString tipAt(const QPoint& point) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Row {
        Part part = Part::compute;
        double exposed_s = 0, hidden_s = 0;
        double share = 0; // of the step
    };
    [[nodiscard]] int rowAt(const QPoint& point) const; // -1 = none
    void activate();
    [[nodiscard]] QRect rowsArea(const QRect& area) const;
    [[nodiscard]] double lineHeight(const QRect& rows) const;
    void paintRow(QPainter& painter, const QRectF& line, const Row& row, double scale, const Theme& theme) const;

    std::vector<Row> m_rows; // those that take time
    double m_total = 0; // seconds, the sum of the exposed parts
    int m_selected = -1;
};

} // namespace fourfold::ui
