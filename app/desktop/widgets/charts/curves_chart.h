// SPDX-License-Identifier: GPL-3.0-or-later
// One measured figure of many runs, laid over each other by colour. The pointer or the arrow keys read it off, dragging
// or + and - choose a part of the axis, Esc shows all of it again.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/charts/plot.h"
#include "app/view/curves/run_curves.h"

#include <QPixmap>

#include <optional>

namespace fourfold::ui {

// Of the line with this number, in the chart and its legend.
QColor curveColour(const Theme& theme, std::size_t number);

class CurvesChart : public Card {
    Q_OBJECT
public:
    // `curves` outlives the chart.
    CurvesChart(const view::RunCurves& curves, view::CurveMetric metric, QWidget* parent = nullptr);
    void refresh(); // the curves have changed
    void setCursor(const std::optional<double>& x);
    void setMarked(const std::string& key); // this line stands out; empty: none
    // What the chart says at `x`: the place first, then a line a run, the greatest value first.
    [[nodiscard]] QStringList readingAt(const std::optional<double>& x) const;
    [[nodiscard]] view::CurveMetric metric() const { return m_metric; }
    [[nodiscard]] const view::CurvePicture& picture() const; // as it is drawn
    [[nodiscard]] QSize minimumSizeHint() const override { return least(220, 150); }
    [[nodiscard]] Table table() const override;

signals:
    void cursorMoved(const std::optional<double>& x); // by hand
    void rangeChosen(const std::optional<fourfold::view::CurveRange>& range); // by hand; empty: all of it

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return picture().lines.empty(); }
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    [[nodiscard]] Plot plotIn(const QRect& area, const QFontMetrics& metrics) const;
    void paintLines(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void paintForecast(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void paintCursor(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void moveCursor(const std::optional<double>& x);
    void zoomAbout(double middle, double factor);

    const view::RunCurves& m_curves;
    view::CurveMetric m_metric;
    mutable std::optional<view::CurvePicture> m_picture; // of the curves and the width as they are
    QPixmap m_drawn; // the lines of it; a cursor that moves draws none of them again
    std::string m_marked;
    std::optional<double> m_cursor, m_pressed, m_dragged; // places
    Plot m_plot; // of the last painting, for the pointer
};

} // namespace fourfold::ui
