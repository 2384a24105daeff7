// SPDX-License-Identifier: GPL-3.0-or-later
// A small live chart (Qt Charts): measured points as a line, a second series as dots, the prediction as a dashed level.
#pragma once

#include "app/desktop/widgets/card.h"

#include <QList>
#include <QPointF>

#include <optional>

class QChart;
class QChartView;
class QLineSeries;
class QScatterSeries;
class QValueAxis;

namespace fourfold::ui {

class LineChart : public Card {
    Q_OBJECT
public:
    // `color` is the theme's colour of the line.
    LineChart(const QString& title, const QString& xTitle, QColor Theme::*color, QWidget* parent = nullptr);

    // Replaces the line; at most a few hundred points (see SeriesBuffer) keep this fast.
    void setPoints(const QList<QPointF>& points);
    void setDots(const QList<QPointF>& points);
    // The dashed level; empty = none. `name` goes into the legend.
    void setLevel(std::optional<double> level, const QString& name = {});
    // Names of the line and the dots in the legend.
    void setNames(const QString& line, const QString& dots = {});
    void setMinimumX(double last); // the x axis reaches at least to here
    [[nodiscard]] qsizetype pointCount() const;
    [[nodiscard]] std::optional<double> level() const { return m_level; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {220, 150}; }

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void applyTheme();
    void fitAxes();

    QColor Theme::*m_color;
    QChart* m_chart;
    QChartView* m_view;
    QLineSeries *m_line, *m_levelLine;
    QScatterSeries* m_dots;
    QValueAxis *m_x, *m_y;
    std::optional<double> m_level;
    QString m_lineName, m_dotsName, m_levelName;
    double m_minimumX = 1;
};

} // namespace fourfold::ui
