// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline of one training step: one row per stage, or per stream of a rank with its kernels; zoom at the pointer,
// hover and selection of bars, an overview strip of the whole step.
// Keys by their position on the keyboard: W/S zoom, A/D pan; F fits, Z zooms to the selected bar, Backspace goes back;
// arrows move between bars (left and right in time, up and down over stages). Dragging with Shift measures a time and
// says where it goes; Z then zooms to it. O takes the overview away, or back. M sets a mark at the pointer (else at the
// selected bar), and takes away the one that is there; a mark says how far it is from the one before. Escape takes
// measure, selection and marks away.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/timeline/timeline_painter.h"

#include <QVariantMap>

#include <optional>

namespace fourfold::ui {

class TimelineView : public Card, public LinkedTable {
    Q_OBJECT
    Q_PROPERTY(bool overview READ hasOverview WRITE setOverview)
public:
    explicit TimelineView(QWidget* parent = nullptr);

    // `summary` names schedule, stages and micro-batches for the subtitle. The time axis reaches to `axisLength` where
    // that is longer than the scene, for two timelines on one axis.
    void showTimeline(TimelineScene scene, const QString& summary, double axisLength = 0);
    // Both views show the same part of the axis from now on, with the same marks, measure and pointer, and outline the
    // same micro-batch. Their axes have the same length: whoever gives one of them
    // another timeline gives it to both.
    void linkWindow(TimelineView& other);
    // What was measured by dragging with Shift, begin before end; empty = nothing.
    [[nodiscard]] std::optional<std::pair<double, double>> measured() const { return m_shared.measured; }
    [[nodiscard]] const std::vector<double>& marks() const { return m_shared.marks; } // seconds, rising
    // Drawn with this view by "Export both": their common parent.
    void setTogether(QWidget* both) { m_both = both; }
    [[nodiscard]] const TimelineScene& scene() const { return m_scene; }
    [[nodiscard]] const TimelineWindow& window() const { return m_window; }
    // For the session: the part on show and the marks; empty where it is all of the step without any. A step of another
    // length stays whole.
    [[nodiscard]] QVariantMap place() const;
    void setPlace(const QVariantMap& place);
    void setSelectedStage(int stage);

    // The strip of the whole step under the rows.
    void setOverview(bool shown);
    [[nodiscard]] bool hasOverview() const { return m_hasOverview; }

    // Chooses the next kernel whose name has this text, upper case or lower, or the one before, and goes there; goes
    // round at the end. False: there is none.
    bool find(const QString& text, bool forward);

    // Bar under a point of the widget.
    [[nodiscard]] std::optional<BarRef> barAt(const QPointF& point) const;
    [[nodiscard]] std::optional<BarRef> hovered() const { return m_hovered; }
    [[nodiscard]] std::optional<BarRef> selected() const { return m_selected; }
    // Where a bar is drawn, clipped to the part on show; empty when it is outside.
    [[nodiscard]] QRectF barRect(const BarRef& ref) const { return geometryNow().barRect(m_scene, ref); }
    [[nodiscard]] QSize minimumSizeHint() const override { return least(280, 170); }
    [[nodiscard]] Table table() const override; // of kernels those on show
    [[nodiscard]] bool hasTable() const override { return !isEmpty(); }
    [[nodiscard]] int chosenRow() const override; // of stages; the table of kernels is of what is on show
    void chooseRow(int row) override;
    // As `fourfold timeline` writes it: .json in Chrome's trace event format (chrome://tracing, Perfetto), .svg or
    // .png.
    [[nodiscard]] Expected<void> writeTrace(const QString& file) const;

signals:
    void stageClicked(int stage);
    void barActivated(fourfold::SpanKind kind, double seconds); // Enter on the selected bar
    void windowMoved(double begin, double end);
    void rulersMoved(); // pointer, measure or marks

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
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    enum class Drag { none, rows, overview, measure };

    [[nodiscard]] TimelineGeometry geometryNow() const { return {bodyArea(), m_scene, m_window, m_hasOverview}; }
    [[nodiscard]] double timeAt(double x) const { return geometryNow().timeAt(x); }
    void windowChanged();
    void showWindow();
    void followWindow(double begin, double end);
    void followRulers(const TimelineView& other);
    void point(); // at what is under the mouse
    void setMark();
    void rulersChanged();
    [[nodiscard]] QString shareWords() const; // of the measured time
    void zoomToSelection();
    void moveOverviewTo(double x);
    void select(std::optional<BarRef> bar);
    void zoomTo(const BarRef& bar);
    [[nodiscard]] QStringList describe(const BarRef& bar) const;

    TimelineScene m_scene;
    TimelineWindow m_window;
    QString m_summary;
    std::optional<BarRef> m_hovered, m_selected;
    int m_selectedStage = -1;
    QPointF m_pointer;
    Drag m_drag = Drag::none;
    QPointF m_dragStart;
    double m_dragBegin = 0;
    TimelineRulers m_shared;
    bool m_pointsHere = false; // the pointer of the rulers is this view's
    QWidget* m_both = nullptr;
    bool m_moved = false, m_hasOverview = true;
    TimelinePainter m_painter;
};

} // namespace fourfold::ui
