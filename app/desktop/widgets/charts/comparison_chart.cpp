// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/comparison_chart.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/plot.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"

#include <QBarCategoryAxis>
#include <QBarSeries>
#include <QBarSet>
#include <QChart>
#include <QChartView>
#include <QCoreApplication>
#include <QEvent>
#include <QGraphicsLayout>
#include <QGraphicsObject>
#include <QGraphicsScene>
#include <QLegend>
#include <QLineSeries>
#include <QLocale>
#include <QLogValueAxis>
#include <QPainter>
#include <QPointer>
#include <QScatterSeries>
#include <QStackedBarSeries>
#include <QValueAxis>

#include <algorithm>
#include <cmath>
#include <map>

namespace fourfold::ui {

namespace {
constexpr int kChartLegendLine = 17; // lengths at 100 % zoom
constexpr int kAxisRoom = 84, kLabelMargin = 18;
constexpr int kBesideLabel = 2 * 4 + 2; // pixels, at any zoom: Qt's padding, and what fonts round to
constexpr int kBelowBars = 34, kBelowCurves = 54, kTickHeight = 22;
constexpr int kLeastLetters = 7; // of a cut name

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

// From nothing to a little over `most`, with round numbers at the ticks, which are `ticks` steps at most.
void setRoundRange(QValueAxis& axis, double most, int ticks)
{
    const double step = axisStep(most > 0 ? most * 1.05 : 1, ticks);
    const double steps = most > 0 ? std::ceil(most * 1.05 / step - 1e-9) : 1;
    axis.setRange(0, steps * step);
    axis.setTickCount(static_cast<int>(steps) + 1);
    axis.setLabelFormat(QStringLiteral("%.%1f").arg(axisDecimals(step)));
}

// What a chart has thrown away goes with the next events; whoever draws it before them would draw the old axes too.
void deleteThrownAway(const QGraphicsScene& scene)
{
    QList<QPointer<QGraphicsObject>> objects;
    for (QGraphicsItem* item : scene.items())
        objects << item->toGraphicsObject();
    for (const QPointer<QGraphicsObject>& object : objects) {
        if (object)
            QCoreApplication::sendPostedEvents(object, QEvent::DeferredDelete);
    }
}

// The shape of a marker of Qt Charts, for the legend.
QPolygonF markerOf(QScatterSeries::MarkerShape shape, const QPointF& middle, double radius)
{
    struct Corners {
        int count;
        double turn = 0;
    };
    static const std::map<QScatterSeries::MarkerShape, Corners> known{{QScatterSeries::MarkerShapeCircle, {32}},
        {QScatterSeries::MarkerShapeRectangle, {4, M_PI / 4}}, {QScatterSeries::MarkerShapeRotatedRectangle, {4}},
        {QScatterSeries::MarkerShapeTriangle, {3}}, {QScatterSeries::MarkerShapeStar, {10}},
        {QScatterSeries::MarkerShapePentagon, {5}}};
    const auto [count, turn] = known.at(shape);
    QPolygonF polygon;
    for (int i = 0; i < count; ++i) {
        const double angle = turn - M_PI / 2 + 2 * M_PI * i / count;
        const double reach = shape == QScatterSeries::MarkerShapeStar && i % 2 ? radius / 2 : radius;
        polygon << middle + reach * QPointF(std::cos(angle), std::sin(angle));
    }
    return polygon;
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
    m_chart->setLocale(QLocale(QLocale::English, QLocale::UnitedStates)); // 4,000 as everywhere in the window
    m_chart->setLocalizeNumbers(true);
    m_chart->setAnimationOptions(QChart::NoAnimation);
    m_chart->setMargins({0, 0, 0, 0});
    m_chart->layout()->setContentsMargins(0, 0, 0, 0);
    m_chart->legend()->hide();
    m_view->setRenderHint(QPainter::Antialiasing);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setFocusPolicy(Qt::NoFocus);
    m_view->viewport()->setFocusPolicy(Qt::NoFocus); // the card is what the keyboard reaches
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
    m_names = nullptr;
    m_powers = nullptr;
    m_values = nullptr;
    for (QAbstractAxis* axis : m_chart->axes()) {
        m_chart->removeAxis(axis);
        delete axis;
    }
    deleteThrownAway(*m_view->scene());
    m_view->setVisible(!isEmpty());
    if (!isEmpty()) {
        if (m_curves.empty())
            buildBars();
        else
            buildCurves();
        style();
    }
    setAccessibleDescription(spokenWords());
    place();
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
    auto* x = m_names = new QBarCategoryAxis;
    nameCategories();
    auto* y = m_values = new QValueAxis;
    m_most = most;
    y->setTitleText(m_unit);
    m_chart->addAxis(x, Qt::AlignBottom);
    m_chart->addAxis(y, Qt::AlignLeft);
    series->attachAxis(x);
    series->attachAxis(y);
}

void ComparisonChart::buildCurves()
{
    const Theme& theme = themeOf(this);
    auto* x = m_powers = new QLogValueAxis;
    x->setBase(2);
    x->setLabelFormat(QStringLiteral("%.0f"));
    x->setTitleText(m_xName);
    auto* y = m_values = new QValueAxis;
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
    m_most = most;
}

void ComparisonChart::style()
{
    const Theme& theme = themeOf(this);
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

QString ComparisonChart::legendName(std::size_t series) const
{
    return m_curves.empty() ? m_sets[series].name : m_curves[series].name;
}

ComparisonChart::Legend ComparisonChart::legend(const QRect& area) const
{
    const Legend above = legendAbove(area);
    const bool low = above.entries.empty() || above.entries.back().at.y() < area.top() + 2 * px(kChartLegendLine);
    return low ? above : legendBeside(area);
}

ComparisonChart::Legend ComparisonChart::legendAbove(const QRect& area) const
{
    const QFont font = scaledFont(-0.5);
    Legend legend{{}, area};
    QPoint at(area.left(), area.top() + px(10));
    for (std::size_t i = 0; i < legendCount(); ++i) {
        const int most = area.width() / 2 - px(32);
        const int width = px(32) + std::min(most, lineWidth(font, legendName(i)));
        if (at.x() > area.left() && at.x() + width > area.right() + px(16))
            at = QPoint(area.left(), at.y() + px(kChartLegendLine));
        legend.entries.push_back({at, legendName(i), most, i});
        at.rx() += width;
    }
    if (!legend.entries.empty())
        legend.plot.setTop(at.y() + px(4));
    return legend;
}

ComparisonChart::Legend ComparisonChart::legendBeside(const QRect& area) const
{
    const QFont font = scaledFont(-0.5);
    int longest = 0;
    for (std::size_t i = 0; i < legendCount(); ++i)
        longest = std::max(longest, lineWidth(font, legendName(i)));
    const int width = std::min(px(16) + longest, area.width() * 2 / 5);
    Legend legend{{}, area.adjusted(0, 0, -width - px(10), 0)};
    const auto lines = static_cast<std::size_t>(std::max(1, area.height() / px(kChartLegendLine)));
    const std::size_t named = legendCount() > lines ? lines - 1 : legendCount();
    QPoint at(area.right() + 1 - width, area.top() + px(10));
    for (std::size_t i = 0; i < named; ++i, at.ry() += px(kChartLegendLine))
        legend.entries.push_back({at, legendName(i), width - px(16), i});
    if (named < legendCount())
        legend.entries.push_back(
            {at, tr("%1 more, in the table").arg(legendCount() - named), width, std::string::npos});
    return legend;
}

void ComparisonChart::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    for (const LegendEntry& entry : legend(area).entries) {
        const bool isMark = entry.series != std::string::npos;
        if (isMark)
            paintMark(painter, entry, theme);
        painter.setPen(theme.muted);
        painter.setFont(scaledFont(-0.5));
        // Names of measured series differ at their ends.
        cut().draw(painter, entry.at.x() + (isMark ? px(16) : 0), entry.at.y(), entry.width, entry.text,
            isMark ? Qt::ElideMiddle : Qt::ElideRight);
    }
}

void ComparisonChart::paintMark(QPainter& painter, const LegendEntry& entry, const Theme& theme) const
{
    if (m_curves.empty()) {
        const BarSet& set = m_sets[entry.series];
        drawLegend(painter, entry.at.x(), entry.at.y(), theme.*set.color, {}, set.fill, theme);
        return;
    }
    const CurveLook& look = kCurveLooks[entry.series % std::size(kCurveLooks)];
    const QPointF middle(entry.at.x() + px(6), entry.at.y() - px(4));
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_curves[entry.series].measured) {
        painter.setPen(theme.text);
        painter.setBrush(theme.*look.color);
        painter.drawPolygon(markerOf(look.marker, middle, px(4.5)));
    } else {
        painter.setPen(QPen(theme.*look.color, 2, look.pen));
        painter.drawLine(middle - QPointF(px(6), 0), middle + QPointF(px(6), 0));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

// Numbered as in the table: equal names would become one category. They are cut to the room under a bar, in the middle;
// where that leaves nothing to read the number stands alone. The axis takes them for HTML.
void ComparisonChart::nameCategories()
{
    const int bars = std::max<int>(1, static_cast<int>(m_categories.size()));
    // As Qt Charts shares out: a place for each edge of a bar, not for each bar, less what stands beside a label.
    const int room = (m_view->width() - px(kAxisRoom)) / (bars + 1) - kBesideLabel;
    const QFont font = scaledFont(-1);
    QStringList names;
    for (const QString& name : m_categories) {
        const QString number = QString::number(names.size() + 1);
        const QString whole = QStringLiteral("%1 %2").arg(number, name);
        const QString shown = elidedLine(font, whole, room, Qt::ElideMiddle);
        const bool isReadable = shown == whole || shown.size() >= number.size() + kLeastLetters;
        names << (isReadable ? shown.toHtmlEscaped() : number);
    }
    if (names != m_names->categories())
        m_names->setCategories(names);
}

// As many as have room: round values over each other, every power of two, of four, of eight side by side.
void ComparisonChart::spaceTicks()
{
    const int room = m_view->height() - px(m_powers ? kBelowCurves : kBelowBars);
    setRoundRange(*m_values, m_most, std::clamp(room / px(kTickHeight), 1, 5));
    if (!m_powers)
        return;
    const int needed = lineWidth(scaledFont(-1), grouped(m_powers->max())) + px(kLabelMargin);
    const double most = std::max(1.0, double(m_view->width() - px(kAxisRoom)) / needed);
    const double doublings = std::log2(m_powers->max() / m_powers->min());
    m_powers->setBase(std::exp2(std::max(1.0, std::ceil(doublings / most))));
}

// The chart where the legend leaves room for it.
void ComparisonChart::place()
{
    m_view->setGeometry(legend(bodyArea()).plot.adjusted(-6, 0, 6, 6));
    if (m_names)
        nameCategories();
    if (m_values)
        spaceTicks();
    // Not with the next events: it may be drawn into a file before them.
    m_chart->layout()->invalidate();
    m_chart->layout()->activate();
}

void ComparisonChart::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    place();
}

void ComparisonChart::changeEvent(QEvent* event)
{
    Card::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        rebuild();
}

} // namespace fourfold::ui
