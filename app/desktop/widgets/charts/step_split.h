// SPDX-License-Identifier: GPL-3.0-or-later
// Where the step time goes: one bar per part, the exposed share solid and the share hidden behind compute pale.
#pragma once

#include "app/desktop/look/theme.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/models/prediction/time_parts_model.h"

namespace fourfold::ui {

struct PartLook {
    QColor Theme::*color;
    Card::Fill fill;
};
PartLook lookOf(Part part);

class StepSplit : public Card {
    Q_OBJECT
public:
    // `model` outlives the widget.
    explicit StepSplit(const TimePartsModel& model, QWidget* parent = nullptr);
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] Table table() const override;
    void setSelected(int row); // of the model; -1 = none

signals:
    void partActivated(const QString& part); // double click or Enter; as the engine names it

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_model.rowCount() == 0; }
    [[nodiscard]] QString tipAt(const QPoint& point) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    [[nodiscard]] int rowAt(const QPoint& point) const; // -1 = none
    void activate();
    [[nodiscard]] QRect rowsArea(const QRect& area) const;
    void paintRow(
        QPainter& painter, const QRectF& line, const TimePartsModel::Row& row, double scale, const Theme& theme) const;

    const TimePartsModel& m_model;
    int m_selected = -1;
};

} // namespace fourfold::ui
