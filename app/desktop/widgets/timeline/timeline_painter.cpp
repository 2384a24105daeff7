// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/timeline/timeline_painter.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/charts/plot.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/desktop/widgets/timeline/timeline_raster.h"
#include "app/models/shared/text.h"

#include <QPaintEngine>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <vector>

namespace fourfold::ui {

namespace {
struct LegendEntry {
    BarKind kind;
    const char* text;
    Card::Fill fill;
};
constexpr LegendEntry kLegend[]{{BarKind::forward, QT_TRANSLATE_NOOP("TimelineView", "Forward"), Card::Fill::solid},
    {BarKind::backward, QT_TRANSLATE_NOOP("TimelineView", "Backward"), Card::Fill::solid},
    {BarKind::weight_gradient, QT_TRANSLATE_NOOP("TimelineView", "Weight gradient"), Card::Fill::solid},
    {BarKind::send_receive, QT_TRANSLATE_NOOP("TimelineView", "Send / receive"), Card::Fill::hatched},
    {BarKind::gradient_reduce, QT_TRANSLATE_NOOP("TimelineView", "Gradient reduction"), Card::Fill::dotted},
    {BarKind::parameter_gather, QT_TRANSLATE_NOOP("TimelineView", "Parameter gather"), Card::Fill::hatched},
    {BarKind::optimizer, QT_TRANSLATE_NOOP("TimelineView", "Optimizer"), Card::Fill::solid},
    {BarKind::other, QT_TRANSLATE_NOOP("TimelineView", "Other"), Card::Fill::solid},
    {BarKind::product, QT_TRANSLATE_NOOP("TimelineView", "Matrix products"), Card::Fill::solid},
    {BarKind::attention, QT_TRANSLATE_NOOP("TimelineView", "Attention"), Card::Fill::solid},
    {BarKind::kernel, QT_TRANSLATE_NOOP("TimelineView", "Other kernels"), Card::Fill::solid},
    {BarKind::communication, QT_TRANSLATE_NOOP("TimelineView", "Communication"), Card::Fill::hatched},
    {BarKind::copy, QT_TRANSLATE_NOOP("TimelineView", "Copies"), Card::Fill::solid}};

bool hasDarkNumbers(BarKind kind)
{
    return kind == BarKind::backward || kind == BarKind::weight_gradient || kind == BarKind::send_receive
        || kind == BarKind::attention || kind == BarKind::communication || kind == BarKind::kernel;
}

void paintLegend(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const QRect& area = picture.area;
    struct Shown {
        QString text;
        QColor color;
        Card::Fill fill;
    };
    std::vector<Shown> entries;
    for (const LegendEntry& entry : kLegend) {
        if (picture.scene.has(entry.kind))
            entries.push_back({TimelinePainter::tr(entry.text), timelineColor(entry.kind, theme), entry.fill});
    }
    entries.push_back({TimelinePainter::tr("Idle"), theme.idle, Card::Fill::solid});
    const QFont font = scaledFont(-0.5); // of drawLegend()
    const auto widthOf = [&](const Shown& entry) { return px(32) + lineWidth(font, entry.text); };
    int needed = -px(16); // the last one has nothing behind it
    for (const Shown& entry : entries)
        needed += widthOf(entry);
    // In a narrow view they stand closer; what still has no room is left to the words over a bar.
    const int closer = std::clamp(
        (needed - area.width() + static_cast<int>(entries.size()) - 1) / static_cast<int>(entries.size()), 0, px(11));
    int x = area.left();
    const int baseline = area.top() + px(10);
    QStringList left;
    for (const Shown& entry : entries) {
        if (!left.isEmpty() || x + widthOf(entry) - px(16) > area.right() + 1) {
            left << entry.text;
            continue;
        }
        x = Card::drawLegend(painter, x, baseline, entry.color, entry.text, entry.fill, theme) - closer;
    }
    if (!left.isEmpty())
        picture.cut.note(QRect(area.left(), area.top() - px(2), area.width(), px(16)),
            TimelinePainter::tr("Also: %1").arg(left.join(QStringLiteral(", "))));
    painter.setFont(scaledFont(-1));
    painter.setPen(theme.muted);
    const QString keys
        = TimelinePainter::tr("W/S zoom   A/D pan   F fit   Z to selection   M mark   Shift+drag measures");
    if (!picture.forFile && lineWidth(painter.font(), keys) < area.right() - x)
        drawLine(
            painter, QRect(x, area.top() - px(2), area.right() - x, px(16)), Qt::AlignRight | Qt::AlignVCenter, keys);
}

void paintAxis(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    const double step = axisStep(at.window.span(), std::max(2, at.rows.width() / px(90)));
    const double scale = at.window.end() >= 0.9995 ? 1 : at.window.end() >= 0.9995e-3 ? 1e3 : 1e6;
    const QString unit = scale == 1 ? QStringLiteral("s")
        : scale == 1e3              ? QStringLiteral("ms")
                                    : QStringLiteral("\u00b5s");
    const int decimals = axisDecimals(step * scale);
    const int bottom = at.rows.top() + qRound(at.rowHeight * picture.scene.rows());
    painter.setFont(scaledFont(-1));
    for (double index = std::ceil(at.window.begin() / step - 1e-9); index * step <= at.window.end(); ++index) {
        const int x = qRound(at.xAt(index * step));
        painter.setPen(theme.line);
        painter.drawLine(x, at.rows.top() - 5, x, bottom);
        const QString text = QStringLiteral("%1 %2").arg(grouped(index * step * scale, decimals), unit);
        if (x + 4 + lineWidth(painter.font(), text) > at.rows.right() + 8)
            continue;
        painter.setPen(theme.muted);
        drawLine(
            painter, QRect(x + 4, at.rows.top() - px(19), px(100), px(15)), Qt::AlignLeft | Qt::AlignVCenter, text);
    }
}

void paintNames(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    const int every = std::max(1, static_cast<int>(std::ceil(px(13) / at.rowHeight)));
    for (int row = 0; row < picture.scene.rows(); row += every) {
        const bool marked = row == picture.selectedStage;
        painter.setPen(marked ? theme.accentText : theme.text);
        painter.setFont(scaledFont(-0.25, marked ? QFont::DemiBold : QFont::Normal));
        const double height = std::max(double(px(13)), at.rowHeight - at.gap);
        const QRectF place(
            at.rows.left() - at.namesWidth, at.rows.top() + row * at.rowHeight, at.namesWidth - 4, height);
        const QString name = picture.scene.has_kernels() ? fromUtf8(picture.scene.row_name(row))
                                                         : TimelinePainter::tr("Stage %1").arg(row);
        picture.cut.draw(painter, place, Qt::AlignLeft | Qt::AlignVCenter, name);
    }
}

// Hatched, and said where there is room.
void paintSteady(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    const std::optional<SteadyPart>& steady = picture.scene.steady();
    if (!steady)
        return;
    const auto inside
        = [&at](double time) { return std::clamp(at.xAt(time), double(at.rows.left()), double(at.rows.right() + 1)); };
    const QRectF place(QPointF(inside(steady->begin_s), at.rows.top()), QPointF(inside(steady->end_s), at.bottom()));
    if (place.width() < 1)
        return;
    painter.fillRect(place, theme.panel);
    painter.fillRect(place, QBrush(theme.muted, Qt::BDiagPattern));
    painter.setFont(scaledFont(-0.5));
    const QString words = fromUtf8(steady_words(*steady));
    QRectF label(0, 0, lineWidth(painter.font(), words) + px(12), px(18));
    picture.cut.note(place, words);
    if (label.width() > place.width() || label.height() > place.height())
        return;
    label.moveCenter(place.center());
    painter.fillRect(label, theme.panel);
    painter.setPen(theme.text);
    drawLine(painter, label, Qt::AlignCenter, words);
}

// Numbers, patterns and edges only for bars that are wide enough to carry them.
void paintNumbers(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    painter.setFont(scaledFont(-1.75));
    const QFontMetrics metrics = painter.fontMetrics();
    const double digit = metrics.horizontalAdvance(QLatin1Char('0'));
    const double perSecond = at.rows.width() / at.window.span();
    const bool numbers = at.rowHeight - at.gap >= metrics.ascent();
    for (int row = 0; row < picture.scene.rows(); ++row) {
        const std::span<const TimelineBar> bars = picture.scene.row(row);
        picture.scene.for_each_long(row, at.window.begin(), at.window.end(), 4 / perSecond, [&](std::size_t i) {
            const TimelineBar& bar = bars[i];
            const QRectF place = at.barRect(picture.scene, {row, i});
            const Card::Fill fill = timelineFill(bar.kind);
            if (fill == Card::Fill::hatched || fill == Card::Fill::dotted) {
                const QBrush veil(
                    QColor(255, 255, 255, 110), fill == Card::Fill::hatched ? Qt::BDiagPattern : Qt::Dense6Pattern);
                painter.fillRect(place, veil);
            }
            if (place.width() >= 5 && at.gap > 0) { // an edge at the end tells two bars of one kind apart
                painter.fillRect(QRectF(place.right() - 1, place.top(), 1, place.height()), theme.panel);
            }
            if (!numbers)
                return;
            painter.setPen(hasDarkNumbers(bar.kind) ? theme.onLightBar : theme.onDarkBar);
            if (picture.scene.has_kernels()) {
                if (place.width() > 4 * digit)
                    drawLine(painter, place.adjusted(3, 0, -2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                        metrics.elidedText(fromUtf8(picture.scene.facts(bar).name), Qt::ElideRight,
                            static_cast<int>(place.width()) - 5));
                return;
            }
            const double needed = digit * (bar.microBatch >= 100 ? 3 : bar.microBatch >= 10 ? 2 : 1) + 4;
            if (bar.microBatch >= 0 && place.width() >= needed && bar.kind != BarKind::send_receive)
                drawLine(painter, place, Qt::AlignCenter, QString::number(bar.microBatch));
        });
    }
}

// The micro-batch under the pointer, or the selected one, across all stages.
void paintOutlines(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    painter.setBrush(Qt::NoBrush);
    // In a file only what was chosen: the mouse happens to be somewhere.
    const bool isChosen = picture.selected && picture.scene.bar(*picture.selected).microBatch >= 0;
    const std::optional<int> outlined = !picture.forFile ? picture.rulers.microBatch
        : isChosen ? std::optional(picture.scene.bar(*picture.selected).microBatch)
                   : std::nullopt;
    if (outlined) {
        const int wanted = *outlined;
        painter.setPen(QPen(theme.text, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
        // Of kernels those that are wide enough to have an outline.
        const double least = picture.scene.has_kernels() ? 3 * at.window.span() / std::max(1, at.rows.width()) : 0;
        for (int row = 0; row < picture.scene.rows(); ++row) {
            const std::span<const TimelineBar> bars = picture.scene.row(row);
            picture.scene.for_each_long(row, at.window.begin(), at.window.end(), least, [&](std::size_t i) {
                if (bars[i].microBatch == wanted && bars[i].kind != BarKind::send_receive)
                    painter.drawRect(at.barRect(picture.scene, {row, i}).adjusted(1, 1, -1, -1));
            });
        }
    }
    if (picture.selected) {
        painter.setPen(QPen(theme.accent, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
        painter.drawRect(at.barRect(picture.scene, *picture.selected).adjusted(-1, -1, 1, 1));
    }
}

void paintMeasure(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    const double left
        = std::clamp(at.xAt(picture.rulers.measured->first), double(at.rows.left()), double(at.rows.right()));
    const double right
        = std::clamp(at.xAt(picture.rulers.measured->second), double(at.rows.left()), double(at.rows.right()));
    if (right - left < 1)
        return;
    const double height = at.rowHeight * picture.scene.rows();
    QColor veil = theme.accent;
    veil.setAlpha(45);
    painter.fillRect(QRectF(left, at.rows.top(), right - left, height), veil);
    painter.setPen(QPen(theme.accentText, 1));
    for (const double x : {left, right})
        painter.drawLine(QPointF(x, at.rows.top() - px(4)), QPointF(x, at.rows.top() + height));
    const QString text = duration(picture.rulers.measured->second - picture.rulers.measured->first);
    painter.setFont(scaledFont(-0.25, QFont::DemiBold));
    const double width = lineWidth(painter.font(), text) + px(12);
    QRectF label((left + right - width) / 2, at.rows.top() + px(2), width, px(18));
    label.moveLeft(std::clamp(label.left(), double(at.rows.left()), double(at.rows.right()) - width));
    painter.setPen(theme.accentText);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(label, 3, 3);
    drawLine(painter, label, Qt::AlignCenter, text);
}

// Marks with their times over the rows, each with how far it is from the one before; the pointer of a linked view.
void paintMarks(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    const double bottom = at.bottom();
    const auto inside = [&](double time) { return time >= at.window.begin() && time <= at.window.end(); };
    if (picture.rulers.pointer && !picture.pointsHere && inside(*picture.rulers.pointer) && !picture.forFile) {
        const double x = at.xAt(*picture.rulers.pointer);
        painter.setPen(QPen(theme.text, 1, Qt::DashLine));
        painter.drawLine(QPointF(x, at.rows.top()), QPointF(x, bottom));
    }
    painter.setFont(scaledFont(-1, QFont::DemiBold));
    double before = NAN;
    for (const double mark : picture.rulers.marks) {
        const QString gap = std::isnan(before) ? QString() : QStringLiteral("  +%1").arg(duration(mark - before));
        before = mark;
        if (!inside(mark))
            continue;
        const double x = at.xAt(mark);
        painter.setPen(QPen(theme.accentText, 2));
        painter.drawLine(QPointF(x, at.rows.top() - px(4)), QPointF(x, bottom));
        const QString text = duration(mark) + gap;
        QRectF flag(x, at.rows.top() - px(19), lineWidth(painter.font(), text) + px(10), px(15));
        flag.moveLeft(std::min(flag.left(), double(at.rows.right()) - flag.width()));
        painter.fillRect(flag, theme.accentText);
        painter.setPen(theme.panel);
        drawLine(painter, flag, Qt::AlignCenter, text);
    }
}

void paintTip(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const QStringList& lines = picture.words;
    const QFont bold = scaledFont(-0.25, QFont::DemiBold);
    const QFont plain = scaledFont(-0.75);
    int widest = QFontMetrics(bold).horizontalAdvance(lines.front());
    for (const QString& line : lines.mid(1))
        widest = std::max(widest, QFontMetrics(plain).horizontalAdvance(line));
    QRect tip(0, 0, widest + px(22), px(14) + px(18) * static_cast<int>(lines.size()));
    tip.moveTopLeft(picture.pointer.toPoint() + QPoint(16, 18));
    if (tip.right() > picture.size.width() - 4)
        tip.moveRight(static_cast<int>(picture.pointer.x()) - 12);
    if (tip.bottom() > picture.size.height() - 4)
        tip.moveBottom(static_cast<int>(picture.pointer.y()) - 10);
    tip.moveLeft(std::max(4, tip.left()));
    tip.moveTop(std::max(4, tip.top()));

    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.muted);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(tip).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    int y = tip.top() + px(7);
    for (int i = 0; i < lines.size(); ++i) {
        painter.setPen(i == 0 ? theme.text : theme.muted);
        painter.setFont(i == 0 ? bold : plain);
        drawLine(
            painter, QRect(tip.left() + px(11), y, widest + 4, px(18)), Qt::AlignLeft | Qt::AlignVCenter, lines[i]);
        y += px(18);
    }
}
} // namespace

Card::Fill timelineFill(BarKind kind)
{
    for (const LegendEntry& entry : kLegend) {
        if (entry.kind == kind)
            return entry.fill;
    }
    return Card::Fill::solid;
}

void TimelinePainter::paint(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    if (m_isDark != theme.dark) {
        forgetAll();
        m_isDark = theme.dark;
    }
    const TimelineGeometry& at = picture.at;
    paintLegend(painter, picture, theme);
    if (at.rows.width() < 20 || at.rowHeight <= 0)
        return;
    paintAxis(painter, picture, theme);
    paintNames(painter, picture, theme);
    paintRows(painter, picture, theme);
    paintSteady(painter, picture, theme);
    paintNumbers(painter, picture, theme);
    paintOutlines(painter, picture, theme);
    if (!at.overview.isEmpty())
        paintOverview(painter, picture, theme);
    if (picture.focused && !picture.forFile) {
        painter.setPen(QPen(theme.accent, 1));
        painter.setBrush(Qt::NoBrush);
        const int height = qRound(at.rowHeight * at.stages);
        painter.drawRect(QRect(at.rows.left() - 2, at.rows.top() - 2, at.rows.width() + 3, height + 3 - at.gap));
    }
    painter.setOpacity(1);
    if (picture.rulers.measured)
        paintMeasure(painter, picture, theme);
    paintMarks(painter, picture, theme);
    if (!picture.words.isEmpty() && !picture.forFile)
        paintTip(painter, picture, theme);
}

void TimelinePainter::paintRows(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    const QSize size(
        at.rows.width(), std::min(at.rows.height(), static_cast<int>(std::ceil(at.rowHeight * picture.scene.rows()))));
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        drawTimeline(painter, picture.scene, at.window.begin(), at.window.end(), QRect(at.rows.topLeft(), size),
            at.rowHeight, at.gap, theme);
        return;
    }
    if (m_rowsImage.isNull() || m_rowsImage.size() != size * picture.pixelRatio) {
        m_rowsImage = rasterTimeline(
            picture.scene, at.window.begin(), at.window.end(), size, at.rowHeight, at.gap, picture.pixelRatio, theme);
    }
    painter.drawImage(at.rows.topLeft(), m_rowsImage);
}

void TimelinePainter::paintOverview(QPainter& painter, const TimelinePicture& picture, const Theme& theme)
{
    const TimelineGeometry& at = picture.at;
    const QSize inner(at.overview.width(), at.overview.height() - 4);
    const double rowHeight = double(inner.height()) / picture.scene.rows();
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        drawTimeline(painter, picture.scene, 0, at.window.length(), QRect(at.overview.topLeft() + QPoint(0, 2), inner),
            rowHeight, rowHeight >= 4 ? 1 : 0, theme);
    } else if (m_overviewImage.isNull() || m_overviewImage.size() != inner * picture.pixelRatio) {
        m_overviewImage = rasterTimeline(
            picture.scene, 0, at.window.length(), inner, rowHeight, rowHeight >= 4 ? 1 : 0, picture.pixelRatio, theme);
    }
    if (painter.paintEngine()->type() == QPaintEngine::Raster)
        painter.drawImage(at.overview.left(), at.overview.top() + 2, m_overviewImage);
    painter.setPen(theme.line);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(at.overview.adjusted(-1, 0, 0, -1));
    const double perSecond = at.overview.width() / at.window.length();
    const double left = at.overview.left() + at.window.begin() * perSecond;
    QColor veil = theme.accent;
    veil.setAlpha(at.window.isFit() ? 0 : 45);
    painter.setPen(QPen(theme.accent, 2));
    painter.setBrush(veil);
    painter.drawRect(
        QRectF(left, at.overview.top(), std::max(3.0, at.window.span() * perSecond - 1), at.overview.height() - 1));
    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-1));
    drawLine(painter, QRect(at.rows.left() - at.namesWidth, at.overview.top(), at.namesWidth, at.overview.height()),
        Qt::AlignLeft | Qt::AlignVCenter, tr("Overview"));
}

} // namespace fourfold::ui
