// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/error_scatter.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr double kBand = 0.1;
constexpr int kTicks = 4; // where the runs are close to each other
} // namespace

ErrorScatter::ErrorScatter(const HistoryModel& model, QWidget* parent)
    : ScatterCard(tr("Predicted against measured"),
        tr("Runs with a prediction and a measurement appear here as points."), &Theme::activations,
        tr("Measured TPS/GPU (up: predicted)"), parent)
    , m_model(model)
{
    connect(&model, &QAbstractItemModel::modelReset, this, &ErrorScatter::modelChanged);
    connect(&model, &QAbstractItemModel::layoutChanged, this, &ErrorScatter::modelChanged);
    modelChanged();
}

void ErrorScatter::modelChanged()
{
    std::vector<Point> points;
    double sum = 0, low = INFINITY, high = 0;
    int inside = 0;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const RunSummary& run = m_model.run(row);
        if (!run.predicted_tps_per_gpu || !run.measured_tps_per_gpu || *run.predicted_tps_per_gpu <= 0
            || *run.measured_tps_per_gpu <= 0)
            continue;
        points.push_back({row, *run.measured_tps_per_gpu, *run.predicted_tps_per_gpu});
        const double error = std::abs(points.back().y / points.back().x - 1);
        sum += error;
        inside += error <= kBand ? 1 : 0;
        low = std::min({low, points.back().x, points.back().y});
        high = std::max({high, points.back().x, points.back().y});
    }
    const QString summary = points.empty()
        ? QString()
        : tr("%1, mean error %2 %, %3 within 10 %")
              .arg(counted(double(points.size()), tr("run")), percent(sum / double(points.size())), grouped(inside));
    const Scale scale = points.empty() ? Scale{1, 10, true} : Scale{low / 1.25, high * 1.25, true};
    showPoints(std::move(points), scale, scale, summary);
    setSubtitle(summary);
}

void ErrorScatter::paintLegend(QPainter& painter, const QRect& area, const Theme& theme)
{
    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-0.5));
    painter.drawText(QRectF(area.left(), area.top(), area.width(), px(16)), Qt::AlignLeft | Qt::AlignVCenter,
        tr("Line: as predicted. Band: 10 % on either side."));
}

void ErrorScatter::paintAxes(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    plot.paintRows(painter, plot.y.ticks(kTicks), compact, theme);
    plot.paintColumns(painter, plot.x.ticks(kTicks), compact, theme, true);
}

void ErrorScatter::paintGround(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const auto [low, high, logarithmic] = plot.x;
    QColor band = theme.optimizer;
    band.setAlpha(46);
    painter.save();
    painter.setClipRect(plot.area);
    painter.setPen(Qt::NoPen);
    painter.setBrush(band);
    painter.drawPolygon(QPolygonF({plot.at(low, low * (1 + kBand)), plot.at(high, high * (1 + kBand)),
        plot.at(high, high * (1 - kBand)), plot.at(low, low * (1 - kBand))}));
    painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
    painter.drawLine(plot.at(low, low), plot.at(high, high));
    painter.restore();
}

void ErrorScatter::drawPoints(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const bool many = points().size() > 2000;
    const double radius = px(many ? 1.5 : 3.5);
    QColor fill = theme.weights;
    fill.setAlpha(points().size() > 500 ? 110 : 190);
    painter.setPen(many ? QPen(Qt::NoPen) : QPen(theme.dark ? fill.lighter(140) : fill.darker(140), 1));
    painter.setBrush(fill);
    for (const Point& point : points())
        painter.drawEllipse(plot.at(point.x, point.y), radius, radius);
}

Table ErrorScatter::table() const
{
    Table table;
    table.columns = {{"id", "Run"}, {"name", "Plan"}, {"measured_tps_per_gpu", "Measured TPS/GPU", 1},
        {"predicted_tps_per_gpu", "Predicted TPS/GPU", 1}, {"error", "Error", 1, 100, " %"}};
    for (const Point& point : points()) {
        const RunSummary& run = m_model.run(point.row);
        table.rows.push_back({run.id, run.name, point.x, point.y, point.y / point.x - 1});
    }
    return table;
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
