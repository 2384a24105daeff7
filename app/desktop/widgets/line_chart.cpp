// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/line_chart.h"

#include <QChart>
#include <QChartView>
#include <QEvent>
#include <QGraphicsLayout>
#include <QLegend>
#include <QLineSeries>
#include <QPainter>
#include <QScatterSeries>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kLegendHeight = 18;

QString axisFormat(double step)
{
    return QStringLiteral("%.%1f").arg(std::clamp(int(std::ceil(-std::log10(step) - 1e-9)), 0, 6));
}
} // namespace

LineChart::LineChart(const QString& title, const QString& xTitle, QColor Theme::*color, QWidget* parent)
    : Card(title, parent)
    , m_color(color)
    , m_chart(new QChart)
    , m_view(new QChartView(m_chart, this))
    , m_line(new QLineSeries(m_chart))
    , m_levelLine(new QLineSeries(m_chart))
    , m_dots(new QScatterSeries(m_chart))
    , m_x(new QValueAxis(m_chart))
    , m_y(new QValueAxis(m_chart))
{
    m_chart->setBackgroundVisible(false);
    m_chart->setAnimationOptions(QChart::NoAnimation);
    m_chart->legend()->hide();
    m_chart->setMargins({0, 0, 0, 0});
    m_chart->layout()->setContentsMargins(0, 0, 0, 0);
    m_chart->addAxis(m_x, Qt::AlignBottom);
    m_chart->addAxis(m_y, Qt::AlignLeft);
    for (QXYSeries* series :
        {static_cast<QXYSeries*>(m_levelLine), static_cast<QXYSeries*>(m_line), static_cast<QXYSeries*>(m_dots)}) {
        m_chart->addSeries(series);
        series->attachAxis(m_x);
        series->attachAxis(m_y);
    }
    m_x->setTitleText(xTitle);
    m_view->setRenderHint(QPainter::Antialiasing);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_view->setFocusPolicy(Qt::NoFocus);
    m_view->setBackgroundBrush(Qt::NoBrush);
    m_view->viewport()->setAutoFillBackground(false);
    m_view->setStyleSheet(QStringLiteral("background: transparent"));
    m_dots->setMarkerSize(7);
    applyTheme();
    fitAxes();
}

void LineChart::setPoints(const QList<QPointF>& points)
{
    m_line->replace(points);
    fitAxes();
}

void LineChart::setDots(const QList<QPointF>& points)
{
    m_dots->replace(points);
    fitAxes();
}

void LineChart::setLevel(std::optional<double> level, const QString& name)
{
    m_level = level;
    m_levelName = name;
    fitAxes();
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
    fitAxes();
}

qsizetype LineChart::pointCount() const
{
    return m_line->count();
}

bool LineChart::isEmpty() const
{
    return m_line->count() == 0 && m_dots->count() == 0;
}

// Ranges with round ticks around everything on show; a flat line stays in the middle instead of filling the height.
void LineChart::fitAxes()
{
    m_view->setVisible(!isEmpty());
    double low = INFINITY, high = -INFINITY, right = m_minimumX;
    for (const QXYSeries* series : {static_cast<const QXYSeries*>(m_line), static_cast<const QXYSeries*>(m_dots)}) {
        for (const QPointF& point : series->points()) {
            low = std::min(low, point.y());
            high = std::max(high, point.y());
            right = std::max(right, point.x());
        }
    }
    if (m_level) {
        low = std::min(low, *m_level);
        high = std::max(high, *m_level);
        m_levelLine->replace(QList<QPointF>{{0, *m_level}, {right, *m_level}});
    } else {
        m_levelLine->clear();
    }
    update();
    if (!(high >= low))
        return;
    const double room = std::max((high - low) * 0.08, std::abs(high) * 0.02 + 1e-9);
    const double bottom = low >= 0 && low < (high - low) * 1.5 ? 0 : low - room;
    const double step = axisStep(high + room - bottom, std::max(3, m_view->height() / 32));
    m_y->setRange(std::floor(bottom / step + 1e-9) * step, (std::ceil((high + room) / step - 1e-9) + 1e-6) * step);
    m_y->setTickType(QValueAxis::TicksDynamic);
    m_y->setTickAnchor(0);
    m_y->setTickInterval(step);
    m_y->setLabelFormat(axisFormat(step));
    const double xStep = std::max(1.0, axisStep(right, std::max(2, m_view->width() / 70)));
    m_x->setRange(0, right * 1.01); // room for a dot at the end
    m_x->setTickType(QValueAxis::TicksDynamic);
    m_x->setTickAnchor(0);
    m_x->setTickInterval(xStep);
    m_x->setLabelFormat(QStringLiteral("%.0f"));
}

void LineChart::applyTheme()
{
    const Theme& theme = themeOf(this);
    m_line->setPen(QPen(theme.*m_color, 2));
    m_levelLine->setPen(QPen(theme.muted, 1.5, Qt::DashLine));
    m_dots->setColor(theme.activations);
    m_dots->setBorderColor(theme.dark ? theme.activations.lighter(125) : theme.activations.darker(150));
    for (QValueAxis* axis : {m_x, m_y}) {
        axis->setLabelsColor(theme.muted);
        axis->setLabelsFont(scaledFont(-1.25));
        axis->setTitleFont(scaledFont(-1.25));
        axis->setTitleBrush(theme.muted);
        axis->setLinePen(QPen(theme.line, 1));
        axis->setGridLinePen(QPen(theme.grid, 1));
    }
    m_x->setGridLineVisible(false);
}

void LineChart::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const int baseline = area.top() + 6;
    int x = area.left();
    if (!m_lineName.isEmpty())
        x = drawLegend(painter, x, baseline, theme.*m_color, m_lineName, Fill::solid, theme);
    if (m_dots->count() > 0 && !m_dotsName.isEmpty())
        x = drawLegend(painter, x, baseline, theme.activations, m_dotsName, Fill::solid, theme);
    if (!m_level || m_levelName.isEmpty())
        return;
    painter.setPen(QPen(theme.muted, 1.5, Qt::DashLine));
    painter.drawLine(x, baseline - 4, x + 18, baseline - 4);
    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-0.5));
    painter.drawText(x + 24, baseline, m_levelName);
}

void LineChart::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    m_view->setGeometry(bodyArea().adjusted(-6, kLegendHeight - 4, 6, 6));
    fitAxes();
}

void LineChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        applyTheme();
    Card::changeEvent(event);
}

} // namespace fourfold::ui
