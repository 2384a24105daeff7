// SPDX-License-Identifier: GPL-3.0-or-later
// The pipeline timeline of one training step: one row a stage, zoom at the pointer, hover and selection of bars, an
// overview strip of the whole step.
// Keys by their position on the keyboard: W/S zoom, A/D pan; F fits, Z zooms to the selected bar, Backspace goes back;
// arrows move between bars (left and right in time, up and down over stages). Dragging with Shift measures a time,
// which Z then zooms to; Escape takes the measure away.
#pragma once

#include "app/desktop/widgets/card.h"
#include "app/models/timeline_scene.h"

#include <QImage>

#include <optional>

namespace fourfold::ui {

class TimelineView : public Card {
    Q_OBJECT
public:
    explicit TimelineView(QWidget* parent = nullptr);

    // `summary` names schedule, stages and micro-batches for the subtitle. The time axis reaches to `axisLength` where
    // that is longer than the scene, for two timelines on one axis.
    void showTimeline(TimelineScene scene, const QString& summary, double axisLength = 0);
    // Both views show the same part of the axis from now on. Their axes have the same length: whoever gives one of them
    // another timeline gives it to both.
    void linkWindow(TimelineView& other);
    // What was measured by dragging with Shift, begin before end; empty = nothing.
    [[nodiscard]] std::optional<std::pair<double, double>> measured() const { return m_measured; }
    [[nodiscard]] const TimelineScene& scene() const { return m_scene; }
    [[nodiscard]] const TimelineWindow& window() const { return m_window; }
    void setSelectedStage(int stage);

    // Bar under a point of the widget.
    [[nodiscard]] std::optional<BarRef> barAt(const QPointF& point) const;
    [[nodiscard]] std::optional<BarRef> hovered() const { return m_hovered; }
    [[nodiscard]] std::optional<BarRef> selected() const { return m_selected; }
    // Where a bar is drawn, clipped to the part on show; empty when it is outside.
    [[nodiscard]] QRectF barRect(const BarRef& ref) const;
    [[nodiscard]] QSize minimumSizeHint() const override { return least(280, 170); }
    [[nodiscard]] Table table() const override;
    // As `fourfold timeline` writes it: .json in Chrome's trace event format (chrome://tracing, Perfetto), .svg or
    // .png.
    [[nodiscard]] Expected<void> writeTrace(const QString& file) const;

signals:
    void stageClicked(int stage);
    void barActivated(fourfold::SpanKind kind); // Enter on the selected bar
    void windowMoved(double begin, double end);

protected:
    void addOwnExports(QMenu& menu) override;
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_scene.rows() == 0 || m_scene.length() <= 0; }
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Geometry {
        QRect rows, overview; // logical pixels
        double rowHeight = 0;
        int gap = 0;
    };
    enum class Drag { none, rows, overview, measure };
    static int namesWidth(); // pixels for the names of the stages

    [[nodiscard]] Geometry geometryNow() const;
    [[nodiscard]] double timeAt(double x) const;
    [[nodiscard]] double xAt(double time) const;
    [[nodiscard]] QRectF barRect(const BarRef& ref, const Geometry& at) const; // of many bars
    void windowChanged();
    void showWindow();
    void followWindow(double begin, double end);
    void zoomToSelection();
    void moveOverviewTo(double x);
    void select(std::optional<BarRef> bar);
    void zoomTo(const BarRef& bar);
    [[nodiscard]] QStringList describe(const BarRef& bar) const;

    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const;
    void paintAxis(QPainter& painter, const Geometry& at, const Theme& theme) const;
    void paintNames(QPainter& painter, const Geometry& at, const Theme& theme) const;
    void paintRows(QPainter& painter, const Geometry& at, const Theme& theme);
    void paintNumbers(QPainter& painter, const Geometry& at, const Theme& theme) const;
    void paintOutlines(QPainter& painter, const Geometry& at, const Theme& theme) const;
    void paintOverview(QPainter& painter, const Geometry& at, const Theme& theme);
    void paintMeasure(QPainter& painter, const Geometry& at, const Theme& theme) const;
    void paintTip(QPainter& painter, const Theme& theme) const;

    TimelineScene m_scene;
    TimelineWindow m_window;
    QString m_summary;
    std::optional<BarRef> m_hovered, m_selected;
    int m_selectedStage = -1;
    QPointF m_pointer;
    Drag m_drag = Drag::none;
    QPointF m_dragStart;
    double m_dragBegin = 0;
    std::optional<std::pair<double, double>> m_measured;
    bool m_moved = false;
    QImage m_rowsImage, m_overviewImage;
    bool m_rasterIsDark = false;
};

} // namespace fourfold::ui
