// SPDX-License-Identifier: GPL-3.0-or-later
// A small live chart, painted: measured points as a line, a band of least to most around it, a second series as dots,
// the prediction as a dashed level. The pointer or the arrow keys read values off it.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/charts/plot.h"

#include <QList>
#include <QPointF>

#include <optional>
#include <utility>

namespace fourfold::ui {

class LineChart : public Card {
    Q_OBJECT
public:
    // `color` is the theme's colour of the line; `xTitle` names the first column of the table.
    LineChart(const QString& title, const QString& xTitle, QColor Theme::*color, QWidget* parent = nullptr);

    // Replaces the line; by x. At most a few hundred points (see SeriesBuffer) keep this fast.
    void setPoints(const QList<QPointF>& points);
    void setDots(const QList<QPointF>& points);
    // Least and most at the same places x, in this order in each point list; empty = none.
    void setBand(const QList<QPointF>& low, const QList<QPointF>& high, const QString& name = {});
    // The dashed level; empty = none. `name` goes into the legend.
    void setLevel(std::optional<double> level, const QString& name = {});
    // The interval around the level, from edge to edge; empty = none.
    void setLevelBand(const std::optional<std::pair<double, double>>& band, const QString& name = {});
    // Names of the line and the dots in the legend.
    void setNames(const QString& line, const QString& dots = {});
    // A thin line between the two of the band; empty = none.
    void setMedian(const QList<QPointF>& points, const QString& name = {});
    // A dashed line behind the others, of places of its own; empty = none. `name` goes into the legend.
    void setExpected(const QList<QPointF>& points, const QString& name = {});
    // Behind the subtitle: who has the worst value.
    void setNote(const QString& note);
    void setMinimumX(double last); // the x axis reaches at least to here
    [[nodiscard]] qsizetype pointCount() const { return m_points.size(); }
    [[nodiscard]] std::optional<double> level() const { return m_level; }
    // The place that is read off, in the chart's own x; empty = none. Charts of one page share it.
    void setCursor(std::optional<double> x);
    [[nodiscard]] std::optional<double> cursor() const { return m_cursor; }
    // A held place stays where it is until a click, Space or Esc lets go of it.
    void hold(bool held);
    [[nodiscard]] bool isHeld() const { return m_held; }
    // One place is read off in all of them.
    static void share(const QList<LineChart*>& charts);
    // What the chart says at `x`, a line a value, the place first; empty where there is nothing.
    [[nodiscard]] QStringList readingAt(const std::optional<double>& x) const;
    [[nodiscard]] QSize minimumSizeHint() const override { return least(220, 150); }
    [[nodiscard]] Table table() const override;

signals:
    void cursorMoved(std::optional<double> x); // by hand
    void cursorHeld(bool held); // by hand

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_points.isEmpty() && m_dots.isEmpty(); }
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    // With the step between its values up.
    [[nodiscard]] std::pair<Plot, double> plotIn(const QRect& area, const QFontMetrics& metrics) const;
    void paintBand(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void paintCursor(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const;
    void describe();
    [[nodiscard]] std::optional<double> placeAt(const QPointF& position) const; // x, where it is in the plot
    void moveCursor(std::optional<double> x);
    void changeHold(bool held);

    QString m_xTitle;
    QColor Theme::*m_color;
    QList<QPointF> m_points, m_dots, m_low, m_high, m_median, m_expected;
    std::optional<double> m_level, m_cursor;
    std::optional<std::pair<double, double>> m_levelBand;
    QString m_levelBandName;
    QString m_lineName, m_dotsName, m_levelName, m_bandName, m_medianName, m_expectedName, m_note;
    double m_minimumX = 1;
    bool m_held = false;
    Plot m_plot; // of the last painting, for the pointer
};

} // namespace fourfold::ui
