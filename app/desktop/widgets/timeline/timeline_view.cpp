// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/timeline/timeline_view.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/save_file.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/models/shared/text.h"
#include "app/view/prediction/kernel_words.h"
#include "app/view/prediction/timeline_rulers.h"
#include "core/profile/step_trace.h"
#include "core/report/timeline_export.h"
#include "core/report/views/plan_tables.h"

#include <QMenu>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr double kHoverSlack = 2; // pixels
constexpr double kWideEnough = 8, kAround = 20; // of a kernel that was looked for: pixels; of its own length
constexpr int kMarkReach = 5; // pixels at 100 %, from a mark to the one that M takes away
constexpr double kSameLength = 1e-6; // of two steps that are taken for one
constexpr int kMostMarks = 1000; // of a session, which anybody may have written
const QString kBegin = QStringLiteral("begin"), kEnd = QStringLiteral("end"), kLength = QStringLiteral("length"),
              kMarks = QStringLiteral("marks"); // of the session
} // namespace

TimelineView::TimelineView(QWidget* parent)
    : Card(tr("Pipeline timeline"), parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::WheelFocus); // who has zoomed by the wheel goes on with the keys
    keepProperty(this, "overview");
    setEmptyText(tr("The timeline of a step appears here as soon as the plan is valid."));
}

void TimelineView::showTimeline(TimelineScene scene, const QString& summary, double axisLength)
{
    m_scene = std::move(scene);
    m_summary = summary;
    m_hovered.reset();
    m_selected.reset();
    m_shared.measured.reset(); // the marks stay: what an edit moves over them is seen
    m_shared.pointer.reset();
    m_shared.microBatch.reset();
    m_painter.forgetAll();
    m_window.setLength(std::max(m_scene.length(), axisLength));
    setAccessibleDescription(summary);
    // Not told to a linked view: it is given the same axis itself, and would take this window for a part of its old
    // one.
    showWindow();
}

QVariantMap TimelineView::place() const
{
    QVariantMap place;
    if (isEmpty())
        return place;
    if (!m_window.isFit())
        place = {{kBegin, m_window.begin()}, {kEnd, m_window.end()}, {kLength, m_window.length()}};
    QVariantList marks;
    for (const double mark : m_shared.marks)
        marks << mark;
    if (!marks.isEmpty())
        place.insert(kMarks, marks);
    return place;
}

void TimelineView::setPlace(const QVariantMap& place)
{
    m_shared.marks.clear();
    for (const QVariant& mark : place.value(kMarks).toList().mid(0, kMostMarks)) {
        if (const double at = mark.toDouble(); at >= 0 && at <= m_window.length())
            m_shared.marks.push_back(at);
    }
    std::sort(m_shared.marks.begin(), m_shared.marks.end());
    const double begin = place.value(kBegin).toDouble(), end = place.value(kEnd).toDouble();
    if (std::abs(place.value(kLength).toDouble() - m_window.length()) < kSameLength * m_window.length()) {
        m_window.show(std::max(0.0, begin), std::min(end, m_window.length()));
        windowChanged();
    }
    rulersChanged();
}

void TimelineView::setSelectedStage(int stage)
{
    m_selectedStage = stage;
    update();
}

void TimelineView::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const bool tells = m_hovered && m_drag == Drag::none;
    const TimelineGeometry at = geometryNow();
    m_painter.paint(painter,
        {m_scene, at, m_shared, cut(), area, size(), devicePixelRatioF(), m_selected, m_selectedStage,
            tells ? describe(*m_hovered) : QStringList(), m_pointer, m_pointsHere, hasFocus(), isForFile()},
        theme);
}

std::optional<BarRef> TimelineView::barAt(const QPointF& point) const
{
    if (isEmpty())
        return {};
    const TimelineGeometry at = geometryNow();
    if (!QRectF(at.rows).contains(point))
        return {};
    const int row = static_cast<int>((point.y() - at.rows.top()) / at.rowHeight);
    const double slack = kHoverSlack / std::max(1, at.rows.width()) * m_window.span();
    return m_scene.at(row, timeAt(point.x()), slack);
}

void TimelineView::windowChanged()
{
    m_painter.forgetRows();
    emit windowMoved(m_window.begin(), m_window.end());
    showWindow();
}

// In words and by a new picture.
void TimelineView::showWindow()
{
    if (isEmpty()) {
        setSubtitle({});
    } else if (m_shared.measured) {
        setSubtitle(shareWords());
    } else if (m_selected) {
        const QStringList lines = describe(*m_selected);
        setSubtitle(lines[0] + QStringLiteral(": ") + lines[1].simplified());
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
    showWindow();
    point();
}

void TimelineView::zoomTo(const BarRef& bar)
{
    const TimelineBar& at = m_scene.bar(bar);
    const double length = at.end_s - at.start_s;
    m_window.show(at.start_s - length, at.end_s + length);
    windowChanged();
}

bool TimelineView::find(const QString& text, bool forward)
{
    if (!m_scene.has_kernels() || text.isEmpty())
        return false;
    const std::vector<bool> named = view::kernels_named(m_scene, text.toStdString());
    const std::optional<BarRef> found
        = m_scene.next(m_selected, forward, [&named](const TimelineBar& bar) { return bool(named[bar.facts]); });
    if (!found)
        return false;
    select(found);
    const TimelineBar& bar = m_scene.bar(*found);
    if (const QRectF place = barRect(*found);
        place.width() < kWideEnough && bar.end_s - bar.start_s < m_window.span()) {
        const double around = kAround * (bar.end_s - bar.start_s);
        m_window.show(bar.start_s - around, bar.end_s + around);
        windowChanged();
    }
    return true;
}

QStringList TimelineView::describe(const BarRef& ref) const
{
    if (m_scene.has_kernels()) {
        QStringList lines;
        for (const std::string& line : view::kernel_lines(m_scene, ref))
            lines << fromUtf8(line);
        return lines;
    }
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

Table TimelineView::table() const
{
    return m_scene.has_kernels() ? kernels_table(m_scene.kernel_timeline(m_window.begin(), m_window.end()))
                                 : spans_table({m_scene.timeline(), m_scene.steady()});
}

int TimelineView::chosenRow() const
{
    if (!m_selected || m_scene.has_kernels())
        return -1;
    std::size_t before = 0;
    for (int stage = 0; stage < m_selected->row; ++stage)
        before += m_scene.row(stage).size();
    return static_cast<int>(before + m_selected->index);
}

void TimelineView::chooseRow(int row)
{
    if (m_scene.has_kernels() || row < 0)
        return;
    auto left = static_cast<std::size_t>(row);
    for (int stage = 0; stage < m_scene.rows(); ++stage) {
        const std::size_t bars = m_scene.row(stage).size();
        if (left < bars) {
            select(BarRef{stage, left});
            return;
        }
        left -= bars;
    }
}

Expected<void> TimelineView::writeTrace(const QString& file) const
{
    if (isEmpty())
        return Problem{ProblemCode::failed, "there is no timeline to write", "wait until the plan has an answer",
            file.toStdString()};
    return export_timeline({m_scene.timeline(), m_scene.steady()}, title().toStdString(), file.toStdString());
}

void TimelineView::addOwnExports(QMenu& menu)
{
    QAction* overview = menu.addAction(tr("Overview"), this, &TimelineView::setOverview);
    overview->setCheckable(true);
    overview->setChecked(m_hasOverview);
    overview->setShortcut(Qt::Key_O); // shown; the key is the view's own
    if (m_both)
        menu.addAction(tr("Export both timelines\u2026"), this, [this] { askExportPicture(*m_both, tr("Timelines")); });
    if (m_scene.has_kernels())
        return; // who has a trace of kernels has it in this form
    menu.addAction(tr("Export Chrome trace\u2026"), this, [this] {
        const QString file = askSaveFile(this, tr("Export Chrome trace"), QStringLiteral("timeline.json"),
            tr("Chrome trace (*.json)"), QStringLiteral("json"));
        if (file.isEmpty())
            return;
        if (const Expected<void> written = writeTrace(file); !written)
            showProblem(this, tr("The trace was not written"), written.error());
        else
            sayWritten(this, file);
    });
}

void TimelineView::setOverview(bool shown)
{
    m_hasOverview = shown;
    m_painter.forgetAll(); // the rows have another height
    update();
}

void TimelineView::linkWindow(TimelineView& other)
{
    connect(this, &TimelineView::windowMoved, &other, &TimelineView::followWindow);
    connect(&other, &TimelineView::windowMoved, this, &TimelineView::followWindow);
    connect(this, &TimelineView::rulersMoved, &other, [this, &other] { other.followRulers(*this); });
    connect(&other, &TimelineView::rulersMoved, this, [this, &other] { followRulers(other); });
}

void TimelineView::followRulers(const TimelineView& other)
{
    m_shared = other.m_shared;
    m_pointsHere = false;
    showWindow();
}

void TimelineView::rulersChanged()
{
    emit rulersMoved();
    showWindow();
}

// The time under the mouse and its micro-batch, else the selected one, also for the linked view.
void TimelineView::point()
{
    const bool inside = underMouse() && !isEmpty() && geometryNow().rows.contains(m_pointer.toPoint());
    const std::optional<BarRef> bar = m_hovered ? m_hovered : m_selected;
    m_shared.pointer = inside ? std::optional(timeAt(m_pointer.x())) : std::nullopt;
    m_shared.microBatch
        = bar && m_scene.bar(*bar).microBatch >= 0 ? std::optional(m_scene.bar(*bar).microBatch) : std::nullopt;
    m_pointsHere = true;
    emit rulersMoved();
    update();
}

void TimelineView::setMark()
{
    const TimelineGeometry at = geometryNow();
    double time = (m_window.begin() + m_window.end()) / 2;
    if (underMouse() && at.rows.contains(m_pointer.toPoint()))
        time = timeAt(m_pointer.x());
    else if (m_selected)
        time = m_scene.bar(*m_selected).start_s;
    const double near = px(kMarkReach) / double(std::max(1, at.rows.width())) * m_window.span();
    view::toggle_mark(m_shared.marks, time, near);
    rulersChanged();
}

// Where the measured time goes, over all stages.
QString TimelineView::shareWords() const
{
    return exactText(view::measured_text(m_scene, m_shared.measured->first, m_shared.measured->second));
}

// The legend may have no room for all, the picture none for the keys.
QString TimelineView::tipAt(const QPoint& point) const
{
    if (isEmpty() || point.y() >= geometryNow().rows.top() || point.y() < bodyArea().top())
        return {};
    return tr("W/S zoom at the pointer, A/D pan, F fits, Z zooms to the selection, Backspace goes back, O takes the "
              "overview away\n"
              "M marks a time, Shift+drag measures, arrows go from bar to bar, Enter opens the derivation");
}

void TimelineView::followWindow(double begin, double end)
{
    const std::pair before(m_window.begin(), m_window.end());
    m_window.follow(begin, end);
    if (before != std::pair(m_window.begin(), m_window.end())) // else the two would answer each other for ever
        windowChanged();
}

} // namespace fourfold::ui
