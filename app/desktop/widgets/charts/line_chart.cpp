// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/line_chart.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kChartLegendHeight = 22;
constexpr int kXLabelHeight = 18;
constexpr qsizetype kDense = 300; // points
constexpr int kIntervalAlpha = 40;
} // namespace

LineChart::LineChart(const QString& title, const QString& xTitle, QColor Theme::*color, QWidget* parent)
    : Card(title, parent)
    , m_xTitle(xTitle.isEmpty() ? tr("step") : xTitle)
    , m_color(color)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
}

void LineChart::setPoints(const QList<QPointF>& points)
{
    m_points = points;
    if (points.isEmpty())
        hold(false); // another run
    describe();
    update();
}

void LineChart::setDots(const QList<QPointF>& points)
{
    m_dots = points;
    update();
}

void LineChart::setBand(const QList<QPointF>& low, const QList<QPointF>& high, const QString& name)
{
    m_low = low;
    m_high = high;
    m_bandName = name;
    update();
}

void LineChart::setMedian(const QList<QPointF>& points, const QString& name)
{
    m_median = points;
    m_medianName = name;
    update();
}

void LineChart::setExpected(const QList<QPointF>& points, const QString& name)
{
    m_expected = points;
    m_expectedName = name;
    update();
}

void LineChart::setNote(const QString& note)
{
    if (m_note == note)
        return;
    m_note = note;
    describe();
    update();
}

void LineChart::setLevel(std::optional<double> level, const QString& name)
{
    m_level = level;
    m_levelName = name;
    update();
}

void LineChart::setLevelBand(const std::optional<std::pair<double, double>>& band, const QString& name)
{
    m_levelBand = band;
    m_levelBandName = name;
    update();
}

void LineChart::setNames(const QString& line, const QString& dots)
{
    m_lineName = line;
    m_dotsName = dots;
    update();
}

void LineChart::setMinimumX(double last)
{
    m_minimumX = std::max(1.0, last);
    update();
}

void LineChart::describe()
{
    if (m_points.isEmpty()) {
        setAccessibleDescription({});
        return;
    }
    if (const QStringList reading = readingAt(m_cursor); !reading.isEmpty()) {
        setAccessibleDescription(reading.join(QStringLiteral("; ")));
        return;
    }
    const QString last
        = tr("%1 points; last: %2 %3, value %4")
              .arg(m_points.size())
              .arg(m_xTitle, grouped(m_points.constLast().x()), QString::number(m_points.constLast().y(), 'g', 4));
    setAccessibleDescription(m_note.isEmpty() ? last : QStringLiteral("%1; %2").arg(last, m_note));
}

// Ranges with round ticks around everything on show; a flat line stays in the middle instead of filling the height.
std::pair<Plot, double> LineChart::plotIn(const QRect& area, const QFontMetrics& metrics) const
{
    double low = INFINITY, high = -INFINITY, right = m_minimumX;
    for (const QList<QPointF>* points : {&m_points, &m_dots, &m_low, &m_high, &m_expected}) {
        for (const QPointF& point : *points) {
            low = std::min(low, point.y());
            high = std::max(high, point.y());
            right = std::max(right, point.x());
        }
    }
    if (m_level) {
        low = std::min(low, *m_level);
        high = std::max(high, *m_level);
    }
    if (m_levelBand) {
        low = std::min(low, m_levelBand->first);
        high = std::max(high, m_levelBand->second);
    }
    Plot plot{QRectF(area.adjusted(0, px(kChartLegendHeight), -px(4), -px(kXLabelHeight))), {}, {}};
    const double room = std::max((high - low) * 0.08, std::abs(high) * 0.02 + 1e-9);
    const double bottom = low >= 0 && low < (high - low) * 1.5 ? 0 : low - room;
    const double step = axisStep(high + room - bottom, std::max(3, plot.stepsUp(32)));
    plot.y.low = std::floor(bottom / step + 1e-9) * step;
    plot.y.high = std::max(plot.y.low + step, std::ceil((high + room) / step - 1e-9) * step);
    int widest = 0;
    for (const double value : roundValues(plot.y, step))
        widest = std::max(widest, metrics.horizontalAdvance(grouped(value, axisDecimals(step))));
    plot.area.setLeft(plot.area.left() + widest + px(8));
    plot.x.high = right * 1.01; // room for a dot at the end
    return {plot, step};
}

void LineChart::paintBand(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    if (m_low.size() < 2 || m_high.size() < 2)
        return;
    QPolygonF band;
    for (const QPointF& point : m_low)
        band << plot.at(point);
    for (auto point = m_high.crbegin(); point != m_high.crend(); ++point)
        band << plot.at(*point);
    QColor fill = theme.*m_color;
    fill.setAlpha(60);
    painter.setRenderHint(QPainter::Antialiasing, m_low.size() <= kDense);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawPolygon(band);
    QPolygonF middle;
    for (const QPointF& point : m_median)
        middle << plot.at(point);
    // Dots along a line that goes up and down at every pixel are neither seen nor cheap.
    const bool dense = middle.size() > kDense;
    painter.setRenderHint(QPainter::Antialiasing, !dense);
    painter.setPen(QPen(theme.*m_color, 1, dense ? Qt::SolidLine : Qt::DotLine));
    painter.drawPolyline(middle);
    painter.setRenderHint(QPainter::Antialiasing);
}

void LineChart::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    paintLegend(painter, area, theme);
    painter.setFont(scaledFont(-1.25));
    const auto [plot, step] = plotIn(area, painter.fontMetrics());
    m_plot = plot;
    if (plot.isTiny())
        return;
    const int decimals = axisDecimals(step);
    plot.paintRows(
        painter, roundValues(plot.y, step), [&](double value) { return grouped(value, decimals); }, theme);
    painter.setPen(theme.line);
    painter.drawLine(plot.area.bottomLeft(), plot.area.bottomRight());
    const double across = std::max(1.0, axisStep(plot.x.high, plot.stepsAcross(70))); // steps of a run are whole
    plot.paintColumns(
        painter, roundValues(plot.x, across), [](double value) { return grouped(value); }, theme);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_levelBand) {
        QColor fill = theme.muted;
        fill.setAlpha(kIntervalAlpha);
        painter.fillRect(QRectF(plot.at(0, m_levelBand->second), plot.at(plot.x.high, m_levelBand->first)), fill);
    }
    paintBand(painter, plot, theme);
    if (m_level) {
        painter.setPen(QPen(theme.muted, 1.5, Qt::DashLine));
        painter.drawLine(plot.at(0, *m_level), plot.at(plot.x.high, *m_level));
    }
    if (m_expected.size() > 1) {
        QPolygonF expected;
        for (const QPointF& point : m_expected)
            expected << plot.at(point);
        painter.setPen(QPen(theme.muted, 1.5, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(expected);
    }
    QPolygonF line;
    line.reserve(m_points.size());
    for (const QPointF& point : m_points)
        line << plot.at(point);
    // A long run's line fills its card from least to most: smooth edges and round joins of all of it would take most of
    // the time of a frame, and nobody sees them.
    const bool dense = line.size() > kDense;
    painter.setRenderHint(QPainter::Antialiasing, !dense);
    painter.setPen(QPen(theme.*m_color, dense ? 1 : 2, Qt::SolidLine, dense ? Qt::FlatCap : Qt::RoundCap,
        dense ? Qt::BevelJoin : Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    if (line.size() == 1)
        painter.drawEllipse(line.front(), 1.5, 1.5);
    else
        painter.drawPolyline(line);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.dark ? theme.activations.lighter(125) : theme.activations.darker(150), 1));
    painter.setBrush(theme.activations);
    for (const QPointF& point : m_dots)
        painter.drawEllipse(plot.at(point), px(3.5), px(3.5));
    paintCursor(painter, plot, theme);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void LineChart::paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const
{
    const int baseline = area.top() + px(8);
    int x = area.left();
    if (!m_lineName.isEmpty())
        x = drawLegend(painter, x, baseline, theme.*m_color, m_lineName, Fill::solid, theme);
    if (!m_low.isEmpty() && !m_bandName.isEmpty()) {
        QColor band = theme.*m_color;
        band.setAlpha(60);
        painter.fillRect(QRectF(x, baseline - px(9), px(11), px(11)), band);
        x = drawLegendText(painter, x + px(16), baseline, m_bandName, theme);
    }
    if (!m_median.isEmpty() && !m_medianName.isEmpty()) {
        painter.setPen(QPen(theme.*m_color, 1, Qt::DotLine));
        painter.drawLine(x, baseline - px(4), x + px(14), baseline - px(4));
        x = drawLegendText(painter, x + px(19), baseline, m_medianName, theme);
    }
    if (!m_dots.isEmpty() && !m_dotsName.isEmpty())
        x = drawLegend(painter, x, baseline, theme.activations, m_dotsName, Fill::solid, theme);
    if (!m_note.isEmpty()) { // at the right end, where nothing else stands
        painter.setPen(theme.muted);
        painter.setFont(scaledFont(-0.5));
        painter.drawText(
            QRectF(area.left(), area.top() - px(28), area.width(), px(20)), Qt::AlignRight | Qt::AlignVCenter, m_note);
    }
    if (m_expected.size() > 1 && !m_expectedName.isEmpty()) {
        painter.setPen(QPen(theme.muted, 1.5, Qt::DashLine));
        painter.drawLine(x, baseline - px(4), x + px(18), baseline - px(4));
        x = drawLegendText(painter, x + px(24), baseline, m_expectedName, theme);
    }
    if (!m_level || m_levelName.isEmpty())
        return;
    painter.setPen(QPen(theme.muted, 1.5, Qt::DashLine));
    painter.drawLine(x, baseline - px(4), x + px(18), baseline - px(4));
    x = drawLegendText(painter, x + px(24), baseline, m_levelName, theme);
    if (!m_levelBand || m_levelBandName.isEmpty())
        return;
    QColor fill = theme.muted;
    fill.setAlpha(kIntervalAlpha);
    painter.fillRect(QRectF(x, baseline - px(9), px(11), px(11)), fill);
    drawLegendText(painter, x + px(16), baseline, m_levelBandName, theme);
}

Table LineChart::table() const
{
    const auto name = [](const QString& text, const char* otherwise) {
        return text.isEmpty() ? std::string(otherwise) : text.toStdString();
    };
    // What stands at the places of the line.
    std::vector<std::pair<std::string, const QList<QPointF>*>> series{{name(m_lineName, "value"), &m_points}};
    for (const auto& [key, points] :
        {std::pair("least", &m_low), std::pair("most", &m_high), std::pair("median", &m_median)}) {
        if (!points->isEmpty() && points->size() == m_points.size())
            series.emplace_back(key, points);
    }
    Table table;
    table.columns = {{m_xTitle.toStdString(), {}}};
    for (const auto& [key, points] : series)
        table.columns.push_back({key, {}, -5});
    if (!m_dots.isEmpty())
        table.columns.push_back({name(m_dotsName, "second"), {}, -5});
    if (m_level)
        table.columns.push_back({name(m_levelName, "level"), {}, -5});
    if (!m_expected.isEmpty())
        table.columns.push_back({name(m_expectedName, "expected"), {}, -5});
    const auto add = [&](double x, qsizetype index, const Cell& dot, const Cell& expected = {}) {
        std::vector<Cell> row{static_cast<std::int64_t>(std::llround(x))};
        for (const auto& [key, points] : series)
            index >= 0 ? row.emplace_back((*points)[index].y()) : row.emplace_back();
        if (!m_dots.isEmpty())
            row.push_back(dot);
        if (m_level)
            row.emplace_back(*m_level);
        if (!m_expected.isEmpty())
            row.push_back(expected);
        table.rows.push_back(std::move(row));
    };
    for (qsizetype i = 0; i < m_points.size(); ++i)
        add(m_points[i].x(), i, {});
    for (const QPointF& dot : m_dots)
        add(dot.x(), -1, dot.y());
    for (const QPointF& point : m_expected)
        add(point.x(), -1, {}, point.y());
    return table;
}

} // namespace fourfold::ui
