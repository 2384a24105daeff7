// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/heat_map.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kNamesWidth = 176, kHeadHeight = 24, kScaleHeight = 22; // at 100 % zoom
constexpr int kLeastRow = 20, kMostRow = 34, kMostColumn = 150;

// Four digits, and those of thousands grouped.
QString fourDigits(double value)
{
    return std::abs(value) >= 1000 ? grouped(value) : QString::number(value, 'g', 4);
}

QColor mixed(const QColor& from, const QColor& to, double share)
{
    const auto channel = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
    return {channel(from.red(), to.red()), channel(from.green(), to.green()), channel(from.blue(), to.blue())};
}
} // namespace

// Black above this WCAG luminance, white below: the contrast is 4.58 at least.
QColor HeatMap::inkOn(const QColor& ground)
{
    constexpr double kMiddle = 0.179;
    const auto linear = [](double channel) {
        return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    const double luminance
        = 0.2126 * linear(ground.redF()) + 0.7152 * linear(ground.greenF()) + 0.0722 * linear(ground.blueF());
    return luminance > kMiddle ? QColor(Qt::black) : QColor(Qt::white);
}

HeatMap::HeatMap(const QString& title, QWidget* parent)
    : Card(title, parent)
{
    setFocusPolicy(Qt::StrongFocus);
}

void HeatMap::show(HeatGrid grid, Table table)
{
    m_grid = std::move(grid);
    m_table = std::move(table);
    m_least = INFINITY;
    m_greatest = -INFINITY;
    int values = 0, failed = 0, impossible = 0, waiting = 0;
    for (const auto& row : m_grid.cells) {
        for (const HeatCell& cell : row) {
            failed += cell.state == HeatCell::State::failed ? 1 : 0;
            impossible += cell.state == HeatCell::State::impossible ? 1 : 0;
            waiting += cell.state == HeatCell::State::waiting ? 1 : 0;
            if (!cell.value)
                continue;
            ++values;
            m_least = std::min(m_least, *cell.value);
            m_greatest = std::max(m_greatest, *cell.value);
        }
    }
    if (m_selected && !m_grid.at(m_selected->first, m_selected->second))
        m_selected.reset();
    QString said
        = tr("%1; %2 with a value, %3 that did not run").arg(m_grid.unit, counted(values, tr("cell")), grouped(failed));
    if (impossible > 0)
        said += tr(", %1 without a layout").arg(grouped(impossible));
    if (waiting > 0)
        said += tr(", %1 to measure").arg(grouped(waiting));
    setSubtitle(isEmpty() ? QString() : said);
    setAccessibleDescription(subtitle());
    updateGeometry();
    update();
}

void HeatMap::select(std::optional<Place> place)
{
    if (m_selected == place)
        return;
    m_selected = place;
    const HeatCell* cell = place ? m_grid.at(place->first, place->second) : nullptr;
    setAccessibleDescription(cell ? cell->tip : subtitle());
    update();
    emit selectionChanged();
}

QSize HeatMap::minimumSizeHint() const
{
    const int rows = std::max<int>(3, static_cast<int>(m_grid.rows.size()));
    return {px(kNamesWidth + 60 * std::max<int>(3, static_cast<int>(m_grid.columns.size())) + 28),
        px(46 + kHeadHeight + kScaleHeight + kLeastRow * rows)};
}

HeatMap::Geometry HeatMap::geometryIn(const QRect& area) const
{
    Geometry at;
    if (isEmpty())
        return at;
    at.cells = QRectF(area.adjusted(px(kNamesWidth), px(kHeadHeight), 0, -px(kScaleHeight)));
    at.width = std::min<double>(px(kMostColumn), at.cells.width() / double(m_grid.columns.size()));
    at.height = std::clamp<double>(at.cells.height() / double(m_grid.rows.size()), px(kLeastRow) / 2.0, px(kMostRow));
    at.cells.setSize({at.width * double(m_grid.columns.size()), at.height * double(m_grid.rows.size())});
    return at;
}

QRectF HeatMap::cellRect(const Place& place) const
{
    const Geometry at = geometryIn(bodyArea());
    return {at.cells.left() + place.second * at.width, at.cells.top() + place.first * at.height, at.width, at.height};
}

std::optional<HeatMap::Place> HeatMap::placeAt(const QPointF& point) const
{
    const Geometry at = geometryIn(bodyArea());
    if (isEmpty() || !at.cells.contains(point))
        return {};
    const Place place{static_cast<int>((point.y() - at.cells.top()) / at.height),
        static_cast<int>((point.x() - at.cells.left()) / at.width)};
    return m_grid.at(place.first, place.second) ? std::optional(place) : std::nullopt;
}

QColor HeatMap::colorOf(double value, const Theme& theme) const
{
    if (m_grid.diverging) {
        const double largest = std::max({std::abs(m_least), std::abs(m_greatest), 0.02});
        const QColor& to = value >= 0 ? theme.activations : theme.weights;
        return mixed(theme.panel, to, 0.9 * std::sqrt(std::min(1.0, std::abs(value) / largest)));
    }
    const double span = m_greatest - m_least;
    const double share = span > 0 ? (value - m_least) / span : 1;
    return mixed(theme.panel, theme.weights, 0.1 + 0.85 * share);
}

void HeatMap::paintCell(QPainter& painter, const QRectF& rect, const HeatCell& cell, const Theme& theme) const
{
    const QRectF shape = rect.adjusted(0.5, 0.5, -0.5, -0.5);
    QColor ink = theme.muted;
    switch (cell.state) {
    case HeatCell::State::value: {
        const QColor ground = colorOf(*cell.value, theme);
        painter.fillRect(shape, ground);
        ink = inkOn(ground);
        break;
    }
    case HeatCell::State::failed:
        painter.fillRect(shape, theme.idle);
        painter.fillRect(shape, QBrush(theme.line, Qt::BDiagPattern));
        ink = theme.bad;
        break;
    case HeatCell::State::waiting:
        painter.setPen(cell.text.isEmpty() ? QPen(theme.line, 1, Qt::DotLine) : QPen(theme.accent, 2)); // it runs
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(shape);
        break;
    case HeatCell::State::impossible:
        break;
    }
    painter.setPen(ink);
    const QString text = cell.text.isEmpty() && cell.state == HeatCell::State::impossible ? unknownText() : cell.text;
    if (rect.height() >= px(13)) {
        cut().draw(painter, shape, Qt::AlignCenter, text);
    }
}

// What the colours mean: least to greatest, with their values.
void HeatMap::paintScale(QPainter& painter, const QRect& area, const Theme& theme) const
{
    if (!(m_greatest >= m_least))
        return;
    const auto text = [this](double value) { return m_grid.diverging ? signedPercent(value) : fourDigits(value); };
    const double low = m_grid.diverging ? -std::max({std::abs(m_least), std::abs(m_greatest), 0.02}) : m_least;
    const double high = m_grid.diverging ? -low : m_greatest;
    const QRectF line(area.left() + px(kNamesWidth), area.bottom() - px(14), px(160), px(10));
    constexpr int kSteps = 40;
    for (int i = 0; i < kSteps; ++i) {
        const double value = low + (high - low) * i / (kSteps - 1);
        painter.fillRect(
            QRectF(line.left() + line.width() * i / kSteps, line.top(), line.width() / kSteps + 1, line.height()),
            colorOf(value, theme));
    }
    painter.setPen(theme.line);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(line);
    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-1));
    painter.drawText(QRectF(area.left(), line.top() - px(3), px(kNamesWidth - 8), px(16)),
        Qt::AlignRight | Qt::AlignVCenter, text(low));
    painter.drawText(QRectF(line.right() + px(8), line.top() - px(3), px(200), px(16)),
        Qt::AlignLeft | Qt::AlignVCenter, text(high));
}

void HeatMap::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const Geometry at = geometryIn(area);
    painter.setFont(scaledFont(-0.5));
    painter.setPen(theme.muted);
    for (int column = 0; column < m_grid.columns.size(); ++column) {
        painter.drawText(QRectF(at.cells.left() + column * at.width, area.top(), at.width, px(kHeadHeight)),
            Qt::AlignCenter, column == 0 ? tr("%1 GPUs").arg(m_grid.columns[column]) : m_grid.columns[column]);
    }
    for (int row = 0; row < m_grid.rows.size(); ++row) {
        const QRectF line(area.left(), at.cells.top() + row * at.height, px(kNamesWidth - 8), at.height);
        painter.setPen(theme.text);
        if (at.height >= px(11))
            cut().draw(painter, line, Qt::AlignLeft | Qt::AlignVCenter, m_grid.rows[row]);
        for (int column = 0; column < m_grid.columns.size(); ++column)
            paintCell(painter, {at.cells.left() + column * at.width, line.top(), at.width, at.height},
                *m_grid.at(row, column), theme);
    }
    paintScale(painter, area, theme);
    if (!m_selected)
        return;
    painter.setPen(QPen(theme.text, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(at.cells.left() + m_selected->second * at.width,
        at.cells.top() + m_selected->first * at.height, at.width, at.height));
}

void HeatMap::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    select(placeAt(event->position()));
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const auto place = placeAt(event->position()))
        emit activated(place->first, place->second);
}

void HeatMap::keyPressEvent(QKeyEvent* event)
{
    const int down = stepDown(*event), right = stepAcross(*event);
    if (isEmpty()) {
        Card::keyPressEvent(event);
    } else if (down != 0 || right != 0) {
        const Place from = m_selected.value_or(Place{0, 0});
        const Place to{
            std::clamp<int>(from.first + (m_selected ? down : 0), 0, static_cast<int>(m_grid.rows.size()) - 1),
            std::clamp<int>(from.second + (m_selected ? right : 0), 0, static_cast<int>(m_grid.columns.size()) - 1)};
        select(to);
    } else if (isEnter(*event) && m_selected) {
        emit activated(m_selected->first, m_selected->second);
    } else {
        Card::keyPressEvent(event);
    }
}

QString HeatMap::tipAt(const QPoint& point) const
{
    const auto place = placeAt(point);
    return place ? m_grid.at(place->first, place->second)->tip : QString();
}

} // namespace fourfold::ui
