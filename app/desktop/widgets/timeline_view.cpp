// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/timeline_view.h"

#include "app/models/text.h"

#include <QGuiApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kLegendHeight = 20;
constexpr int kAxisHeight = 18;
constexpr int kOverviewHeight = 26;
constexpr int kOverviewGap = 10;
constexpr double kTallestRow = 40;
constexpr double kZoomStep = 1.25;
constexpr double kPanStep = 0.2;
constexpr double kHoverSlack = 2; // pixels

// The key at the place where W, A, S, D lie on a US keyboard, so that other layouts keep the cross shape.
// X11 and Wayland report evdev codes plus eight; elsewhere, and for synthetic events, the letter counts.
int keyByPosition(const QKeyEvent& event)
{
    static const bool evdev = QGuiApplication::platformName() == QLatin1String("xcb")
        || QGuiApplication::platformName() == QLatin1String("wayland");
    if (evdev) {
        switch (event.nativeScanCode()) {
        case 25:
            return Qt::Key_W;
        case 38:
            return Qt::Key_A;
        case 39:
            return Qt::Key_S;
        case 40:
            return Qt::Key_D;
        default:
            break;
        }
    }
    return event.key();
}
} // namespace

TimelineView::TimelineView(QWidget* parent)
    : Card(tr("Pipeline timeline"), parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("The timeline of a step appears here as soon as the plan is valid."));
}

void TimelineView::showTimeline(TimelineScene scene, const QString& summary)
{
    m_scene = std::move(scene);
    m_summary = summary;
    m_hovered.reset();
    m_selected.reset();
    m_overviewImage = {};
    m_window.setLength(m_scene.length());
    const double rows = std::max(1, m_scene.rows()) * kTallestRow;
    setMaximumHeight(46 + kLegendHeight + kAxisHeight + static_cast<int>(rows) + kOverviewGap + kOverviewHeight);
    setAccessibleDescription(summary);
    windowChanged();
}

void TimelineView::setSelectedStage(int stage)
{
    m_selectedStage = stage;
    update();
}

TimelineView::Geometry TimelineView::geometryNow() const
{
    Geometry at;
    const QRect body = bodyArea();
    at.rows = body.adjusted(kNamesWidth, kLegendHeight + kAxisHeight, 0, -kOverviewHeight - kOverviewGap);
    at.overview = QRect(at.rows.left(), body.bottom() - kOverviewHeight + 1, at.rows.width(), kOverviewHeight);
    at.rowHeight = std::min(kTallestRow, double(at.rows.height()) / std::max(1, m_scene.rows()));
    at.gap = at.rowHeight >= 14 ? 4 : at.rowHeight >= 6 ? 1 : 0;
    return at;
}

double TimelineView::timeAt(double x) const
{
    const QRect rows = geometryNow().rows;
    return m_window.begin() + (x - rows.left()) / std::max(1, rows.width()) * m_window.span();
}

double TimelineView::xAt(double time) const
{
    const QRect rows = geometryNow().rows;
    return rows.left() + (time - m_window.begin()) / m_window.span() * rows.width();
}

std::optional<BarRef> TimelineView::barAt(const QPointF& point) const
{
    if (isEmpty())
        return {};
    const Geometry at = geometryNow();
    if (!QRectF(at.rows).contains(point))
        return {};
    const int row = static_cast<int>((point.y() - at.rows.top()) / at.rowHeight);
    const double slack = kHoverSlack / std::max(1, at.rows.width()) * m_window.span();
    return m_scene.at(row, timeAt(point.x()), slack);
}

QRectF TimelineView::barRect(const BarRef& ref) const
{
    const Geometry at = geometryNow();
    const TimelineBar& bar = m_scene.bar(ref);
    const double left = std::max(double(at.rows.left()), xAt(bar.start_s));
    const double right = std::min(double(at.rows.right() + 1), xAt(bar.end_s));
    if (right <= left)
        return {};
    return {left, at.rows.top() + ref.row * at.rowHeight, right - left, at.rowHeight - at.gap};
}

void TimelineView::windowChanged()
{
    m_rowsImage = {};
    if (isEmpty()) {
        setSubtitle({});
    } else if (m_window.isFit()) {
        setSubtitle(tr("%1; one step of %2").arg(m_summary, duration(m_scene.length())));
    } else {
        setSubtitle(
            tr("%1; showing %2 to %3 of %4")
                .arg(m_summary, duration(m_window.begin()), duration(m_window.end()), duration(m_window.length())));
    }
    update();
}

void TimelineView::select(std::optional<BarRef> bar)
{
    m_selected = bar;
    if (bar) {
        m_hovered.reset();
        const TimelineBar& at = m_scene.bar(*bar);
        const double middle = (at.start_s + at.end_s) / 2;
        if (middle < m_window.begin() || middle > m_window.end()) {
            m_window.moveTo(middle - m_window.span() / 2);
            windowChanged();
        }
        setAccessibleDescription(describe(*bar).join(QStringLiteral(". ")));
        emit stageClicked(bar->row);
    }
    update();
}

void TimelineView::zoomTo(const BarRef& bar)
{
    const TimelineBar& at = m_scene.bar(bar);
    const double length = at.end_s - at.start_s;
    m_window.show(at.start_s - length, at.end_s + length);
    windowChanged();
}

QStringList TimelineView::describe(const BarRef& ref) const
{
    const TimelineBar& bar = m_scene.bar(ref);
    const QString kind = fromUtf8(name(bar.kind));
    const QString title = bar.microBatch >= 0
        ? tr("Micro-batch %1, %2, stage %3").arg(bar.microBatch).arg(kind).arg(ref.row)
        : tr("%1, stage %2").arg(kind.left(1).toUpper() + kind.mid(1)).arg(ref.row);
    QStringList lines{title,
        tr("start %1    length %2    wait before %3")
            .arg(duration(bar.start_s), duration(bar.end_s - bar.start_s), duration(m_scene.waitBefore(ref)))};
    if (bar.microBatch >= 0)
        lines << tr("model chunk %1; all of micro-batch %2 is outlined").arg(bar.chunk).arg(bar.microBatch);
    return lines;
}

void TimelineView::wheelEvent(QWheelEvent* event)
{
    if (isEmpty() || !geometryNow().rows.contains(event->position().toPoint())) {
        event->ignore();
        return;
    }
    const QPoint delta = event->angleDelta();
    if (event->modifiers() & Qt::ShiftModifier || std::abs(delta.x()) > std::abs(delta.y()))
        m_window.pan(-kPanStep * (delta.x() != 0 ? delta.x() : delta.y()) / 120.0);
    else
        m_window.zoom(timeAt(event->position().x()), std::pow(kZoomStep, delta.y() / 120.0));
    m_hovered = barAt(event->position());
    windowChanged();
    event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event)
{
    if (isEmpty() || event->button() != Qt::LeftButton)
        return;
    const Geometry at = geometryNow();
    m_dragStart = event->position();
    m_dragBegin = m_window.begin();
    m_moved = false;
    if (at.overview.contains(event->position().toPoint())) {
        m_drag = Drag::overview;
        moveOverviewTo(event->position().x());
    } else if (at.rows.contains(event->position().toPoint())) {
        m_drag = Drag::rows;
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event)
{
    m_pointer = event->position();
    if (m_drag == Drag::overview) {
        moveOverviewTo(event->position().x());
        return;
    }
    if (m_drag == Drag::rows) {
        const double pixels = event->position().x() - m_dragStart.x();
        m_moved = m_moved || std::abs(pixels) > 3;
        if (m_moved) {
            m_window.moveTo(m_dragBegin - pixels / std::max(1, geometryNow().rows.width()) * m_window.span());
            m_hovered.reset();
            windowChanged();
        }
        return;
    }
    m_hovered = barAt(event->position());
    update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event)
{
    if (m_drag == Drag::rows && !m_moved)
        select(barAt(event->position()));
    m_drag = Drag::none;
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const std::optional<BarRef> bar = barAt(event->position()))
        zoomTo(*bar);
}

void TimelineView::moveOverviewTo(double x)
{
    const QRect overview = geometryNow().overview;
    const double time = (x - overview.left()) / std::max(1, overview.width()) * m_window.length();
    m_window.moveTo(time - m_window.span() / 2);
    windowChanged();
}

void TimelineView::leaveEvent(QEvent*)
{
    m_hovered.reset();
    update();
}

void TimelineView::keyPressEvent(QKeyEvent* event)
{
    if (isEmpty() || (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))) {
        Card::keyPressEvent(event);
        return;
    }
    const bool pointerInside = geometryNow().rows.contains(m_pointer.toPoint()) && underMouse();
    const double at = pointerInside ? timeAt(m_pointer.x()) : (m_window.begin() + m_window.end()) / 2;
    const BarRef from = m_selected.value_or(m_hovered.value_or(BarRef{0, 0}));
    const bool canMove = from.row >= 0 && from.row < m_scene.rows() && !m_scene.row(from.row).empty();
    switch (keyByPosition(*event)) {
    case Qt::Key_W:
        m_window.zoom(at, kZoomStep);
        break;
    case Qt::Key_S:
        m_window.zoom(at, 1 / kZoomStep);
        break;
    case Qt::Key_A:
        m_window.pan(-kPanStep);
        break;
    case Qt::Key_D:
        m_window.pan(kPanStep);
        break;
    case Qt::Key_F:
        m_window.fit();
        break;
    case Qt::Key_Backspace:
        m_window.back();
        break;
    case Qt::Key_Z:
        if (m_selected)
            zoomTo(*m_selected);
        break;
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (canMove)
            select(m_selected ? m_scene.along(from, event->key() == Qt::Key_Left ? -1 : 1) : from);
        break;
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (canMove)
            select(m_selected ? m_scene.across(from, event->key() == Qt::Key_Up ? -1 : 1) : from);
        break;
    case Qt::Key_Escape:
        if (!m_selected) {
            Card::keyPressEvent(event);
            return;
        }
        select({});
        break;
    default:
        Card::keyPressEvent(event);
        return;
    }
    windowChanged();
}

} // namespace fourfold::ui
