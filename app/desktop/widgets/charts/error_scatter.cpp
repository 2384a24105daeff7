// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/error_scatter.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr double kClose = 6; // greatest by least, below which 1, 2 and 5 are too few
constexpr double kBand = 0.1;
} // namespace

ErrorScatter::ErrorScatter(const HistoryModel& model, QWidget* parent)
    : ScatterCard(
        tr("Predicted against measured"), tr("Runs with a prediction and a measurement appear here as points."), parent)
    , m_model(model)
{
    connect(&model, &QAbstractItemModel::modelReset, this, &ErrorScatter::modelChanged);
    connect(&model, &QAbstractItemModel::layoutChanged, this, &ErrorScatter::modelChanged);
    modelChanged();
}

void ErrorScatter::modelChanged()
{
    m_points.clear();
    double sum = 0;
    int inside = 0;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const RunSummary& run = m_model.run(row);
        if (!run.predicted_tps_per_gpu || !run.measured_tps_per_gpu || *run.predicted_tps_per_gpu <= 0
            || *run.measured_tps_per_gpu <= 0)
            continue;
        m_points.push_back({row, *run.measured_tps_per_gpu, *run.predicted_tps_per_gpu});
        const double error = std::abs(m_points.back().predicted / m_points.back().measured - 1);
        sum += error;
        inside += error <= kBand ? 1 : 0;
    }
    std::sort(m_points.begin(), m_points.end(), [](const Point& a, const Point& b) { return a.measured < b.measured; });
    showSummary(isEmpty() ? QString()
                          : tr("%1, mean error %2 %, %3 within 10 %")
                                .arg(counted(double(m_points.size()), tr("run")),
                                    percent(sum / double(m_points.size())), grouped(inside)));
}

QPointF ErrorScatter::Axes::at(double measured, double predicted) const
{
    const double span = std::log(high / low);
    return {plot.left() + std::log(measured / low) / span * plot.width(),
        plot.bottom() - std::log(predicted / low) / span * plot.height()};
}

ErrorScatter::Axes ErrorScatter::axesIn(const QRect& area) const
{
    Axes axes;
    axes.plot = QRectF(area.adjusted(px(52), px(22), -px(8), -px(34)));
    double low = INFINITY, high = 0;
    for (const Point& point : m_points) {
        low = std::min({low, point.measured, point.predicted});
        high = std::max({high, point.measured, point.predicted});
    }
    if (high > 0) {
        axes.low = low / 1.25;
        axes.high = high * 1.25;
    }
    return axes;
}

std::optional<QPointF> ErrorScatter::placeOf(int row) const
{
    const Axes axes = axesIn(bodyArea());
    for (const Point& point : m_points) {
        if (point.row == row)
            return axes.at(point.measured, point.predicted);
    }
    return {};
}

void ErrorScatter::forEachPoint(const std::function<void(int row, const QPointF& place)>& visit) const
{
    const Axes axes = axesIn(bodyArea());
    for (const Point& point : m_points)
        visit(point.row, axes.at(point.measured, point.predicted));
}

// Decades, where there are few of them also their 2s and 5s, and of a few close runs round steps.
std::vector<double> ErrorScatter::ticks(const Axes& axes)
{
    std::vector<double> values;
    if (axes.high / axes.low < kClose) {
        const double step = axisStep(axes.high - axes.low, 4);
        for (double value = std::ceil(axes.low / step) * step; value <= axes.high; value += step)
            values.push_back(value);
        return values;
    }
    const bool fine = axes.high / axes.low < 150;
    for (double decade = std::pow(10, std::floor(std::log10(axes.low))); decade <= axes.high; decade *= 10) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double value = decade * factor;
            if (value >= axes.low && value <= axes.high && (factor == 1 || fine))
                values.push_back(value);
        }
    }
    return values;
}

void ErrorScatter::paintAxes(QPainter& painter, const Axes& axes, const Theme& theme) const
{
    painter.setFont(scaledFont(-1));
    for (const double value : ticks(axes)) {
        const QPointF place = axes.at(value, value);
        painter.setPen(theme.grid);
        painter.drawLine(QPointF(axes.plot.left(), place.y()), QPointF(axes.plot.right(), place.y()));
        painter.drawLine(QPointF(place.x(), axes.plot.top()), QPointF(place.x(), axes.plot.bottom()));
        painter.setPen(theme.muted);
        painter.drawText(QRectF(axes.plot.left() - px(60), place.y() - px(8), px(54), px(16)),
            Qt::AlignRight | Qt::AlignVCenter, compact(value));
        painter.drawText(
            QRectF(place.x() - px(30), axes.plot.bottom() + px(1), px(60), px(15)), Qt::AlignCenter, compact(value));
    }
    painter.setPen(theme.muted);
    painter.drawText(QRectF(axes.plot.left(), axes.plot.bottom() + px(16), axes.plot.width(), px(16)), Qt::AlignCenter,
        tr("Measured TPS/GPU (up: predicted)"));
}

void ErrorScatter::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const Axes axes = axesIn(area);
    if (axes.plot.width() < 20 || axes.plot.height() < 20)
        return;
    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-0.5));
    painter.drawText(QRectF(area.left(), area.top(), area.width(), px(16)), Qt::AlignLeft | Qt::AlignVCenter,
        tr("Line: as predicted. Band: 10 % on either side."));
    paintAxes(painter, axes, theme);
    painter.setClipRect(axes.plot.adjusted(-1, -1, 1, 1));
    painter.setRenderHint(QPainter::Antialiasing);
    QColor band = theme.optimizer;
    band.setAlpha(46);
    painter.setPen(Qt::NoPen);
    painter.setBrush(band);
    painter.drawPolygon(
        QPolygonF({axes.at(axes.low, axes.low * (1 + kBand)), axes.at(axes.high, axes.high * (1 + kBand)),
            axes.at(axes.high, axes.high * (1 - kBand)), axes.at(axes.low, axes.low * (1 - kBand))}));
    painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
    painter.drawLine(axes.at(axes.low, axes.low), axes.at(axes.high, axes.high));
    paintPoints(painter, theme, [&](QPainter& on) { drawPoints(on, axes, theme); });
    for (const Point& point : m_points) {
        if (point.row != selected())
            continue;
        painter.setPen(QPen(theme.text, 2));
        painter.setBrush(theme.activations);
        painter.drawEllipse(axes.at(point.measured, point.predicted), px(5.5), px(5.5));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setClipping(false);
}

void ErrorScatter::drawPoints(QPainter& painter, const Axes& axes, const Theme& theme) const
{
    const bool many = m_points.size() > 2000;
    const double radius = px(many ? 1.5 : 3.5);
    QColor fill = theme.weights;
    fill.setAlpha(m_points.size() > 500 ? 110 : 190);
    painter.setPen(many ? QPen(Qt::NoPen) : QPen(theme.dark ? fill.lighter(140) : fill.darker(140), 1));
    painter.setBrush(fill);
    for (const Point& point : m_points)
        painter.drawEllipse(axes.at(point.measured, point.predicted), radius, radius);
}

Table ErrorScatter::table() const
{
    Table table;
    table.columns = {{"id", "Run"}, {"name", "Plan"}, {"measured_tps_per_gpu", "Measured TPS/GPU", 1},
        {"predicted_tps_per_gpu", "Predicted TPS/GPU", 1}, {"error", "Error", 1, 100, " %"}};
    for (const Point& point : m_points) {
        const RunSummary& run = m_model.run(point.row);
        table.rows.push_back({run.id, run.name, point.measured, point.predicted, point.predicted / point.measured - 1});
    }
    return table;
}

// Along what was measured.
int ErrorScatter::neighbour(int step) const
{
    const auto at = std::find_if(
        m_points.begin(), m_points.end(), [this](const Point& point) { return point.row == selected(); });
    const auto last = static_cast<std::ptrdiff_t>(m_points.size()) - 1;
    const std::ptrdiff_t next = at == m_points.end() ? (step > 0 ? 0 : last) : at - m_points.begin() + step;
    return m_points[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(next, 0, last))].row;
}

QString ErrorScatter::tipOf(int row) const
{
    const RunSummary& run = m_model.run(row);
    return tr("%1\n%2\nmeasured %3, predicted %4 (%5)")
        .arg(fromUtf8(run.name), fromUtf8(run.layout), throughputText(*run.measured_tps_per_gpu),
            throughputText(*run.predicted_tps_per_gpu),
            signedPercent(*run.predicted_tps_per_gpu / *run.measured_tps_per_gpu - 1));
}

} // namespace fourfold::ui
