// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse and keyboard of the timeline.
#include "app/desktop/widgets/timeline/timeline_view.h"

#include <QGuiApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr double kZoomStep = 1.25;
constexpr double kPanStep = 0.2;

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
    m_pointer = event->position();
    m_hovered = barAt(m_pointer);
    windowChanged();
    point();
    event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event)
{
    if (isEmpty() || event->button() != Qt::LeftButton)
        return;
    const TimelineGeometry at = geometryNow();
    m_dragStart = event->position();
    m_dragBegin = m_window.begin();
    m_moved = false;
    if (at.overview.contains(event->position().toPoint())) {
        m_drag = Drag::overview;
        moveOverviewTo(event->position().x());
    } else if (at.rows.contains(event->position().toPoint())) {
        m_drag = event->modifiers() & Qt::ShiftModifier ? Drag::measure : Drag::rows;
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event)
{
    m_pointer = event->position();
    if (m_drag == Drag::overview) {
        moveOverviewTo(event->position().x());
        return;
    }
    if (m_drag == Drag::measure) {
        const QRect rows = geometryNow().rows;
        const auto inside = [&](double x) { return timeAt(std::clamp(x, double(rows.left()), double(rows.right()))); };
        m_shared.measured = std::minmax({inside(m_dragStart.x()), inside(event->position().x())});
        m_hovered.reset();
        rulersChanged();
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
    point();
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
    m_pointer = {-1, -1};
    point();
}

void TimelineView::zoomToSelection()
{
    if (m_shared.measured && m_shared.measured->second > m_shared.measured->first) {
        m_window.show(m_shared.measured->first, m_shared.measured->second);
        windowChanged();
    } else if (m_selected) {
        zoomTo(*m_selected);
    }
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
        zoomToSelection();
        break;
    case Qt::Key_M:
        setMark();
        return;
    case Qt::Key_O:
        setOverview(!m_hasOverview);
        return;
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
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_selected) {
            const TimelineBar& bar = m_scene.bar(*m_selected);
            if (const std::optional<SpanKind> kind = view::span_kind(bar.kind); kind && !m_scene.has_kernels())
                emit barActivated(*kind, bar.end_s - bar.start_s);
        }
        return;
    case Qt::Key_Escape:
        if (m_shared.measured) {
            m_shared.measured.reset();
            rulersChanged();
        } else if (m_selected) {
            select({});
        } else if (!m_shared.marks.empty()) {
            m_shared.marks.clear();
            rulersChanged();
        } else {
            Card::keyPressEvent(event);
            return;
        }
        break;
    default:
        Card::keyPressEvent(event);
        return;
    }
    windowChanged();
}

} // namespace fourfold::ui
