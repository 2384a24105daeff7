// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/comparison_chart.h"

#include "app/desktop/zoom.h"

#include <QBarCategoryAxis>
#include <QBarSeries>
#include <QBarSet>
#include <QChart>
#include <QChartView>
#include <QEvent>
#include <QGraphicsLayout>
#include <QLegend>
#include <QLineSeries>
#include <QLogValueAxis>
#include <QScatterSeries>
#include <QStackedBarSeries>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
// Colour, pen and marker together tell the lines apart.
struct CurveLook {
    QColor Theme::*color;
    Qt::PenStyle pen;
    QScatterSeries::MarkerShape marker;
};
constexpr CurveLook kCurveLooks[]{{&Theme::accentText, Qt::SolidLine, QScatterSeries::MarkerShapeCircle},
    {&Theme::activations, Qt::DashLine, QScatterSeries::MarkerShapeRectangle},
    {&Theme::optimizer, Qt::DotLine, QScatterSeries::MarkerShapeTriangle},
    {&Theme::buffers, Qt::DashDotLine, QScatterSeries::MarkerShapeRotatedRectangle},
    {&Theme::gradients, Qt::SolidLine, QScatterSeries::MarkerShapeStar},
    {&Theme::bad, Qt::DashLine, QScatterSeries::MarkerShapePentagon}};

double topOf(double most)
{
    if (!(most > 0))
        return 1;
    const double step = axisStep(most, 5);
    return std::ceil(most / step - 1e-9) * step;
}

QBrush brushOf(const QColor& color, Card::Fill fill)
{
    switch (fill) {
    case Card::Fill::hatched:
        return {color, Qt::BDiagPattern};
    case Card::Fill::dotted:
        return {color, Qt::Dense4Pattern};
    case Card::Fill::outlined:
        return {color, Qt::FDiagPattern};
    case Card::Fill::solid:
        break;
    }
    return color;
}
} // namespace

ComparisonChart::ComparisonChart(const QString& title, const QString& subtitle, QWidget* parent)
    : Card(title, parent)
    , m_chart(new QChart)
    , m_view(new QChartView(m_chart, this))
{
    setSubtitle(subtitle);
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("Add plans or runs to compare them."));
    m_chart->setBackgroundVisible(false);
    m_chart->setAnimationOptions(QChart::NoAnimation);
    m_chart->setMargins({0, 0, 0, 0});
    m_chart->layout()->setContentsMargins(0, 0, 0, 0);
    m_chart->legend()->setAlignment(Qt::AlignTop);
    m_view->setRenderHint(QPainter::Antialiasing);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setFocusPolicy(Qt::NoFocus);
    m_view->setAttribute(Qt::WA_TransparentForMouseEvents); // the card has the menu
    m_view->setBackgroundBrush(Qt::NoBrush);
    m_view->viewport()->setAutoFillBackground(false);
    m_view->setStyleSheet(QStringLiteral("background: transparent"));
    rebuild();
}

void ComparisonChart::showBars(
    const QStringList& categories, std::vector<BarSet> sets, bool stacked, const QString& unit)
{
    m_categories = categories;
    m_sets = std::move(sets);
    m_curves.clear();
    m_stacked = stacked;
    m_unit = unit;
    rebuild();
}

void ComparisonChart::showCurves(std::vector<CurveSeries> curves, const QString& xName, const QString& unit)
{
    m_curves = std::move(curves);
    m_sets.clear();
    m_xName = xName;
    m_unit = unit;
    rebuild();
}

bool ComparisonChart::isEmpty() const
{
    return m_curves.empty() && (m_sets.empty() || m_categories.isEmpty());
}

int ComparisonChart::seriesCount() const
{
    return static_cast<int>(m_chart->series().size());
}

void ComparisonChart::rebuild()
{
    m_chart->removeAllSeries();
    for (QAbstractAxis* axis : m_chart->axes()) {
        m_chart->removeAxis(axis);
        delete axis;
    }
    m_view->setVisible(!isEmpty());
    if (!isEmpty()) {
        if (m_curves.empty())
            buildBars();
        else
            buildCurves();
        style();
    }
    QStringList words;
    for (const BarSet& set : m_sets)
        words << set.name;
    for (const CurveSeries& curve : m_curves)
        words << curve.name;
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
}

void ComparisonChart::buildBars()
{
    const Theme& theme = themeOf(this);
    QAbstractBarSeries* series = m_stacked ? static_cast<QAbstractBarSeries*>(new QStackedBarSeries) : new QBarSeries;
    double most = 0;
    std::vector<double> sums(static_cast<std::size_t>(m_categories.size()), 0);
    for (const BarSet& set : m_sets) {
        auto* bars = new QBarSet(set.name);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const double value = i < set.values.size() && std::isfinite(set.values[i]) ? set.values[i] : 0;
            *bars << value;
            sums[i] += value;
            most = std::max(most, m_stacked ? sums[i] : value);
        }
        const QColor color = theme.*set.color;
        bars->setBrush(brushOf(color, set.fill));
        bars->setPen(QPen(theme.dark ? color.lighter(125) : color.darker(150), 1));
        series->append(bars);
    }
    series->setBarWidth(m_stacked ? 0.5 : 0.7);
    m_chart->addSeries(series);
    auto* x = new QBarCategoryAxis;
    // Equal names would become one category.
    QStringList categories;
    for (const QString& name : m_categories)
        categories << (categories.contains(name) ? QStringLiteral("%1 #%2").arg(name).arg(categories.size() + 1)
                                                 : name);
    x->append(categories);
    auto* y = new QValueAxis;
    y->setRange(0, topOf(most * 1.05));
    y->setTitleText(m_unit);
    const double top = y->max();
    y->setLabelFormat(top >= 20 ? QStringLiteral("%.0f") : top >= 2 ? QStringLiteral("%.1f") : QStringLiteral("%.3f"));
    m_chart->addAxis(x, Qt::AlignBottom);
    m_chart->addAxis(y, Qt::AlignLeft);
    series->attachAxis(x);
    series->attachAxis(y);
}

void ComparisonChart::buildCurves()
{
    const Theme& theme = themeOf(this);
    auto* x = new QLogValueAxis;
    x->setBase(2);
    x->setLabelFormat(QStringLiteral("%.0f"));
    x->setTitleText(m_xName);
    auto* y = new QValueAxis;
    y->setTitleText(m_unit);
    m_chart->addAxis(x, Qt::AlignBottom);
    m_chart->addAxis(y, Qt::AlignLeft);
    double most = 0, first = INFINITY, last = 1;
    for (std::size_t i = 0; i < m_curves.size(); ++i) {
        const CurveSeries& curve = m_curves[i];
        const CurveLook& look = kCurveLooks[i % std::size(kCurveLooks)];
        QXYSeries* series = nullptr;
        if (curve.measured) {
            auto* dots = new QScatterSeries;
            dots->setMarkerShape(look.marker);
            dots->setMarkerSize(px(9));
            dots->setBorderColor(theme.text);
            dots->setColor(theme.*look.color);
            series = dots;
        } else {
            series = new QLineSeries;
            series->setPen(QPen(theme.*look.color, 2, look.pen));
            series->setPointsVisible(true);
        }
        series->setName(curve.name);
        series->replace(curve.points);
        m_chart->addSeries(series);
        series->attachAxis(x);
        series->attachAxis(y);
        for (const QPointF& point : curve.points) {
            most = std::max(most, point.y());
            first = std::min(first, point.x());
            last = std::max(last, point.x());
        }
    }
    x->setRange(std::isfinite(first) ? first / 1.2 : 1, last * 1.2);
    y->setRange(0, topOf(most * 1.05));
    y->setLabelFormat(y->max() >= 20 ? QStringLiteral("%.0f") : QStringLiteral("%.2f"));
}

void ComparisonChart::style()
{
    const Theme& theme = themeOf(this);
    m_chart->legend()->setLabelColor(theme.muted);
    m_chart->legend()->setFont(scaledFont(-0.75));
    for (QAbstractAxis* axis : m_chart->axes()) {
        axis->setLabelsColor(theme.muted);
        axis->setLabelsFont(scaledFont(-1));
        axis->setTitleFont(scaledFont(-1));
        axis->setTitleBrush(theme.muted);
        axis->setLinePen(QPen(theme.line, 1));
        axis->setGridLinePen(QPen(theme.grid, 1));
        if (axis->orientation() == Qt::Horizontal)
            axis->setGridLineVisible(false);
    }
}

Table ComparisonChart::table() const
{
    Table table;
    if (!m_curves.empty()) {
        table.columns = {{"series", tr("Series").toStdString()}, {"x", m_xName.toStdString()},
            {"y", m_unit.toStdString(), -5}, {"measured", tr("Measured").toStdString()}};
        for (const CurveSeries& curve : m_curves) {
            for (const QPointF& point : curve.points)
                table.rows.push_back(
                    {curve.name.toStdString(), std::int64_t(std::llround(point.x())), point.y(), curve.measured});
        }
        return table;
    }
    table.columns = {{"name", tr("Name").toStdString()}};
    for (const BarSet& set : m_sets)
        table.columns.push_back({set.name.toStdString(), {}, -5});
    for (qsizetype i = 0; i < m_categories.size(); ++i) {
        std::vector<Cell> row{m_categories[i].toStdString()};
        for (const BarSet& set : m_sets) {
            const auto at = static_cast<std::size_t>(i);
            row.push_back(at < set.values.size() && std::isfinite(set.values[at]) ? Cell(set.values[at]) : Cell());
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

void ComparisonChart::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    m_view->setGeometry(bodyArea().adjusted(-6, -px(4), 6, 6));
}

void ComparisonChart::changeEvent(QEvent* event)
{
    Card::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        rebuild();
}

} // namespace fourfold::ui
