// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/curves_chart.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"
#include "app/view/curves/curve_words.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kPlacesHeight = 18, kRightRoom = 6; // lengths at 100 % zoom
constexpr qsizetype kDenseCurve = 300; // points of a line whose smooth edges nobody sees
constexpr int kRawAlpha = 60, kBandAlpha = 50, kForecastAlpha = 26, kQuietAlpha = 70;
constexpr std::size_t kMostRead = 9; // lines of a reading

QPolygonF polygonOf(const std::vector<view::CurvePoint>& points, const Plot& plot)
{
    QPolygonF line;
    line.reserve(static_cast<qsizetype>(points.size()));
    for (const auto& [x, y] : points)
        line << plot.at(x, y);
    return line;
}

void drawPoints(QPainter& painter, const QPolygonF& line, const QColor& colour, double width)
{
    const bool dense = line.size() > kDenseCurve;
    painter.setRenderHint(QPainter::Antialiasing, !dense);
    painter.setPen(QPen(colour, dense && width < 2 ? 1 : width, Qt::SolidLine, dense ? Qt::FlatCap : Qt::RoundCap,
        dense ? Qt::BevelJoin : Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    if (line.size() == 1)
        painter.drawEllipse(line.front(), 1.5, 1.5);
    else
        painter.drawPolyline(line);
}

// Seconds of a step of the axis are whole minutes, hours or days where it is long.
double timeUnitOf(view::CurveAxis axis, double length)
{
    if (axis != view::CurveAxis::time)
        return 1;
    constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
    return length > 3 * kDay ? kDay : length > 3 * kHour ? kHour : length > 3 * kMinute ? kMinute : 1;
}

QString placeText(view::CurveAxis axis, double value, double step)
{
    if (axis == view::CurveAxis::step)
        return grouped(value, axisDecimals(step));
    if (axis == view::CurveAxis::time && step < 1)
        return QStringLiteral("%1 s").arg(grouped(value, axisDecimals(step)));
    return exactText(view::axis_text(axis, value));
}
} // namespace

QColor curveColour(const Theme& theme, std::size_t number)
{
    const QColor hue = theme.curves[number % theme.curves.size()];
    const std::size_t round = number / theme.curves.size() % 3; // the same hues, darker and lighter
    return round == 0 ? hue : round == 1 ? hue.darker(theme.dark ? 145 : 160) : hue.lighter(theme.dark ? 130 : 125);
}

CurvesChart::CurvesChart(const view::RunCurves& curves, view::CurveMetric metric, QWidget* parent)
    : Card(tr(view::title_of(metric)), parent)
    , m_curves(curves)
    , m_metric(metric)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("Select runs with steps."));
    refresh();
}

void CurvesChart::refresh()
{
    m_picture.reset();
    m_drawn = {};
    setSubtitle(tr("%1 over %2").arg(tr(view::unit_of(m_metric)), tr(view::title_of(m_curves.axis())).toLower()));
    update();
}

const view::CurvePicture& CurvesChart::picture() const
{
    if (!m_picture)
        m_picture = m_curves.picture(m_metric, std::max(1, bodyArea().width()));
    return *m_picture;
}

void CurvesChart::setCursor(const std::optional<double>& x)
{
    if (m_cursor == x)
        return;
    m_cursor = x;
    setAccessibleDescription(x ? readingAt(x).join(QStringLiteral("; ")) : QString());
    update();
}

void CurvesChart::setMarked(const std::string& key)
{
    if (m_marked == key)
        return;
    m_marked = key;
    m_drawn = {};
    update();
}

void CurvesChart::moveCursor(const std::optional<double>& x)
{
    setCursor(x);
    emit cursorMoved(x);
}

QStringList CurvesChart::readingAt(const std::optional<double>& x) const
{
    struct Value {
        QString text;
        double value;
    };
    std::vector<Value> values;
    for (const view::CurveLine& line : picture().lines) {
        const std::optional<view::CurveReading> reading = x ? view::reading_at(line, x) : std::nullopt;
        if (!reading)
            continue;
        QString text = QStringLiteral("%1 %2").arg(significant(reading->value), fromUtf8(line.name));
        if (reading->between) {
            text += tr(" (%1 to %2, %3 runs)")
                        .arg(significant(reading->between->low), significant(reading->between->high))
                        .arg(line.runs);
        }
        values.push_back({text, reading->value});
    }
    if (values.empty())
        return {};
    std::ranges::stable_sort(values, std::ranges::greater(), &Value::value);
    QStringList lines{QStringLiteral("%1 %2").arg(
        tr(view::title_of(m_curves.axis())), exactText(view::axis_text(m_curves.axis(), *x)))};
    for (std::size_t i = 0; i < std::min(kMostRead, values.size()); ++i)
        lines << values[i].text;
    if (values.size() > kMostRead)
        lines << tr("%1 more").arg(values.size() - kMostRead);
    return lines;
}

// Ranges with round ticks around everything on show.
Plot CurvesChart::plotIn(const QRect& area, const QFontMetrics& metrics) const
{
    const view::CurvePicture& shown = picture();
    double low = shown.y.low, high = shown.y.high;
    if (const auto& forecast = shown.forecast) {
        low = std::min(low, forecast->interval ? forecast->interval->low : forecast->value);
        high = std::max(high, forecast->interval ? forecast->interval->high : forecast->value);
    }
    Plot plot{QRectF(area.adjusted(0, 0, -px(kRightRoom), -px(kPlacesHeight))), {}, {}};
    const double room = std::max((high - low) * 0.05, std::abs(high) * 0.01 + 1e-9);
    const double bottom = low >= 0 && low < (high - low) * 0.5 ? 0 : low - room;
    const double step = axisStep(high + room - bottom, std::max(3, plot.stepsUp(32)));
    plot.y.low = std::floor(bottom / step + 1e-9) * step;
    plot.y.high = std::max(plot.y.low + step, std::ceil((high + room) / step - 1e-9) * step);
    int widest = 0;
    for (const double value : roundValues(plot.y, step))
        widest = std::max(widest, metrics.horizontalAdvance(grouped(value, axisDecimals(step))));
    plot.area.setLeft(plot.area.left() + widest + px(8));
    plot.x.low = shown.x.low;
    plot.x.high = shown.x.length() > 0 ? shown.x.high : shown.x.low + 1;
    return plot;
}

void CurvesChart::paintForecast(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const auto& forecast = picture().forecast;
    if (!forecast)
        return;
    if (forecast->interval) {
        QColor fill = theme.text;
        fill.setAlpha(kForecastAlpha);
        painter.fillRect(
            QRectF(plot.at(plot.x.low, forecast->interval->high), plot.at(plot.x.high, forecast->interval->low)), fill);
    }
    painter.setPen(QPen(theme.muted, 1.5, Qt::DashLine));
    painter.drawLine(plot.at(plot.x.low, forecast->value), plot.at(plot.x.high, forecast->value));
    painter.setPen(theme.muted);
    painter.drawText(
        plot.area.adjusted(0, 0, -px(4), 0), Qt::AlignRight | Qt::AlignTop, fromUtf8(view::forecast_text(*forecast)));
}

void CurvesChart::paintLines(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const auto colourOf = [&](const view::CurveLine& line, int alpha = 255) {
        QColor colour = curveColour(theme, line.colour);
        const bool quiet = !m_marked.empty() && line.key != m_marked;
        colour.setAlpha(quiet ? alpha * kQuietAlpha / 255 : alpha);
        return colour;
    };
    for (const view::CurveLine& line : picture().lines) {
        if (!line.raw.empty())
            drawPoints(painter, polygonOf(line.raw, plot), colourOf(line, kRawAlpha), 1);
        if (line.low.size() < 2)
            continue;
        QPolygonF band = polygonOf(line.low, plot);
        const QPolygonF high = polygonOf(line.high, plot);
        std::copy(high.crbegin(), high.crend(), std::back_inserter(band));
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colourOf(line, kBandAlpha));
        painter.drawPolygon(band);
    }
    for (const bool marked : {false, true}) { // the one that stands out lies over the others
        for (const view::CurveLine& line : picture().lines) {
            if ((line.key == m_marked) == marked)
                drawPoints(painter, polygonOf(line.points, plot), colourOf(line), marked ? 2.5 : 1.5);
        }
    }
}

void CurvesChart::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    painter.setFont(scaledFont(-1.25));
    const Plot plot = plotIn(area, painter.fontMetrics());
    m_plot = plot;
    if (plot.isTiny())
        return;
    const double step = axisStep(plot.y.high - plot.y.low, std::max(3, plot.stepsUp(32)));
    plot.paintRows(
        painter, roundValues(plot.y, step), [&](double value) { return grouped(value, axisDecimals(step)); }, theme);
    painter.setPen(theme.line);
    painter.drawLine(plot.area.bottomLeft(), plot.area.bottomRight());
    const view::CurveAxis axis = m_curves.axis();
    const double length = plot.x.high - plot.x.low, unit = timeUnitOf(axis, length);
    const double across = axisStep(length / unit, plot.stepsAcross(90)) * unit;
    plot.paintColumns(
        painter, roundValues(plot.x, across), [&](double value) { return placeText(axis, value, across); }, theme);
    const bool toFile = isForFile(); // lines there stay lines, whatever the file's resolution
    const QSize pixels = size() * devicePixelRatioF();
    if (!toFile && m_drawn.size() != pixels) {
        m_drawn = QPixmap(pixels);
        m_drawn.setDevicePixelRatio(devicePixelRatioF());
        m_drawn.fill(Qt::transparent);
        QPainter lines(&m_drawn);
        lines.setFont(painter.font());
        lines.setClipRect(plot.area.adjusted(0, -1, 0, 1));
        paintForecast(lines, plot, theme);
        paintLines(lines, plot, theme);
    }
    if (toFile) {
        painter.save();
        painter.setClipRect(plot.area.adjusted(0, -1, 0, 1));
        paintForecast(painter, plot, theme);
        paintLines(painter, plot, theme);
        painter.restore();
        return;
    }
    painter.drawPixmap(QPointF(0, 0), m_drawn);
    if (m_pressed && m_dragged) {
        QColor fill = theme.accent;
        fill.setAlpha(kBandAlpha);
        painter.fillRect(QRectF(plot.at(*m_pressed, plot.y.high), plot.at(*m_dragged, plot.y.low)).normalized(), fill);
    }
    paintCursor(painter, plot, theme);
}

void CurvesChart::paintCursor(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    if (!m_cursor || *m_cursor < plot.x.low || *m_cursor > plot.x.high)
        return;
    const QStringList lines = readingAt(m_cursor);
    if (lines.isEmpty())
        return;
    painter.setPen(theme.muted);
    painter.drawLine(plot.at(*m_cursor, plot.y.low), plot.at(*m_cursor, plot.y.high));
    painter.setRenderHint(QPainter::Antialiasing);
    for (const view::CurveLine& line : picture().lines) {
        if (const std::optional<view::CurveReading> reading = view::reading_at(line, *m_cursor)) {
            painter.setBrush(curveColour(theme, line.colour));
            painter.drawEllipse(plot.at(reading->x, reading->value), px(3), px(3));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setFont(scaledFont(-1));
    plot.paintReading(painter, plot.xAt(*m_cursor), lines, theme.line, theme);
}

void CurvesChart::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    if (event->button() == Qt::LeftButton && m_plot.area.contains(event->position()))
        m_pressed = m_plot.xValueAt(event->position().x());
}

void CurvesChart::mouseMoveEvent(QMouseEvent* event)
{
    if (isEmpty())
        return;
    const double x = std::clamp(event->position().x(), m_plot.area.left(), m_plot.area.right());
    if (m_pressed)
        m_dragged = m_plot.xValueAt(x);
    const bool inside = m_pressed || m_plot.area.contains(event->position());
    moveCursor(inside ? std::optional(m_plot.xValueAt(x)) : std::nullopt);
    update();
}

void CurvesChart::mouseReleaseEvent(QMouseEvent* event)
{
    Card::mouseReleaseEvent(event);
    const std::optional<double> from = std::exchange(m_pressed, {}), to = std::exchange(m_dragged, {});
    update();
    if (from && to && std::abs(m_plot.xAt(*from) - m_plot.xAt(*to)) > px(6))
        emit rangeChosen(view::CurveRange{std::min(*from, *to), std::max(*from, *to)});
}

void CurvesChart::mouseDoubleClickEvent(QMouseEvent*)
{
    emit rangeChosen({});
}

void CurvesChart::leaveEvent(QEvent* event)
{
    Card::leaveEvent(event);
    moveCursor({});
}

void CurvesChart::zoomAbout(double middle, double factor)
{
    const view::CurveRange& now = picture().x;
    emit rangeChosen(view::CurveRange{middle - (middle - now.low) * factor, middle + (now.high - middle) * factor});
}

void CurvesChart::keyPressEvent(QKeyEvent* event)
{
    constexpr double kSteps = 100; // of the keys over the width
    const view::CurveRange& x = picture().x;
    const double middle = m_cursor.value_or((x.low + x.high) / 2);
    if (isEmpty())
        Card::keyPressEvent(event);
    else if (const int step = stepAcross(*event); step != 0)
        moveCursor(std::clamp(middle + step * x.length() / kSteps, x.low, x.high));
    else if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal)
        zoomAbout(middle, 0.5);
    else if (event->key() == Qt::Key_Minus && m_curves.range())
        zoomAbout(middle, 2);
    else if (event->key() == Qt::Key_Escape && (m_cursor || m_curves.range()))
        m_cursor ? moveCursor({}) : emit rangeChosen({});
    else
        Card::keyPressEvent(event);
}

void CurvesChart::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    m_picture.reset();
    m_drawn = {};
}

void CurvesChart::changeEvent(QEvent* event)
{
    Card::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        m_drawn = {};
}

Table CurvesChart::table() const
{
    return view::curve_table(picture(), m_curves.axis(), m_metric);
}

} // namespace fourfold::ui
