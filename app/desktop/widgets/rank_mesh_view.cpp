// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/rank_mesh_view.h"

#include "app/desktop/zoom.h"
#include "app/models/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kLegendHeight = 24;
constexpr int kTextHeight = 84; // five lines under the picture
constexpr double kLeastCell = 2.5; // pixels
constexpr double kMostCellWidth = 92, kMostCellHeight = 44;

// Neighbouring stages differ in hue and in pattern.
struct StageLook {
    QColor Theme::*color;
    Card::Fill fill;
};
constexpr StageLook kStageLooks[]{{&Theme::weights, Card::Fill::solid}, {&Theme::activations, Card::Fill::solid},
    {&Theme::optimizer, Card::Fill::solid}, {&Theme::gradients, Card::Fill::solid},
    {&Theme::buffers, Card::Fill::solid}, {&Theme::weights, Card::Fill::hatched},
    {&Theme::activations, Card::Fill::hatched}, {&Theme::optimizer, Card::Fill::hatched}};

const StageLook& lookOf(int stage)
{
    return kStageLooks[static_cast<std::size_t>(stage) % std::size(kStageLooks)];
}

bool hasLightText(int stage)
{
    return lookOf(stage).color == &Theme::weights;
}

// How each group is marked besides its colour: the side of the cell that carries the bar.
struct GroupLook {
    Dimension dimension;
    QColor Theme::*color;
    Qt::PenStyle style;
};
constexpr GroupLook kGroups[]{{Dimension::tp, &Theme::text, Qt::SolidLine}, {Dimension::cp, &Theme::good, Qt::DashLine},
    {Dimension::pp, &Theme::bad, Qt::DotLine}, {Dimension::dp, &Theme::accentText, Qt::DashDotLine}};
} // namespace

RankMeshView::RankMeshView(QWidget* parent)
    : Card(tr("Rank mesh"), parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("The mesh appears here as soon as the degrees multiply to the GPUs."));
}

void RankMeshView::showMesh(RankMesh mesh)
{
    m_mesh = std::move(mesh);
    if (m_current && *m_current >= m_mesh.ranks())
        m_current.reset();
    setSubtitle(m_mesh.ranks() == 0
            ? QString()
            : tr("ranks go %1, innermost first; %2 of %3")
                  .arg(m_mesh.orderText(), counted(m_mesh.nodes(), tr("node")), counted(m_mesh.perNode(), tr("GPU"))));
    setAccessibleDescription(subtitle());
    update();
}

// The number of nodes in a line that makes the cells largest.
RankMeshView::Grid RankMeshView::gridNow() const
{
    Grid grid;
    grid.area = QRectF(bodyArea().adjusted(0, px(kLegendHeight), 0, -px(kTextHeight)));
    const int perNode = std::min(m_mesh.perNode(), std::max(1, m_mesh.ranks()));
    const int nodes = m_mesh.nodes();
    double best = 0;
    for (int columns = 1; columns <= nodes; ++columns) {
        const int lines = (nodes + columns - 1) / columns;
        const double gap = columns > 24 || lines > 12 ? 2 : px(8);
        const double width = (grid.area.width() / columns - gap) / perNode;
        const double height = grid.area.height() / lines - gap;
        const double cell = std::min({width, height * 2.2, double(px(kMostCellWidth))});
        if (cell > best || columns == 1) {
            best = std::max(cell, best);
            grid.columns = columns;
            grid.gap = gap;
            grid.cellWidth = std::max(kLeastCell, std::min(width, double(px(kMostCellWidth))));
            grid.cellHeight = std::max(kLeastCell, std::min({height, grid.cellWidth, double(px(kMostCellHeight))}));
        }
        if (best > 0 && width < 1)
            break; // ever narrower from here on
    }
    grid.nodeWidth = grid.cellWidth * perNode + grid.gap;
    grid.nodeHeight = grid.cellHeight + grid.gap;
    const int fitting = std::max(1, static_cast<int>(grid.area.width() / grid.nodeWidth));
    grid.columns = std::min(grid.columns, fitting);
    const int lines = std::max(1, static_cast<int>((grid.area.height() + grid.gap) / grid.nodeHeight));
    grid.nodes = std::min(nodes, grid.columns * lines);
    return grid;
}

QRectF RankMeshView::cellIn(const Grid& grid, int rank) const
{
    const int node = m_mesh.nodeOf(rank);
    if (node >= grid.nodes)
        return {};
    const double x = grid.area.left() + (node % grid.columns) * grid.nodeWidth + m_mesh.localOf(rank) * grid.cellWidth;
    const double y = grid.area.top() + (node / grid.columns) * grid.nodeHeight;
    return {x, y, grid.cellWidth, grid.cellHeight};
}

QRectF RankMeshView::cellOf(int rank) const
{
    return cellIn(gridNow(), rank);
}

std::optional<int> RankMeshView::rankAt(const QPointF& point) const
{
    if (isEmpty())
        return {};
    const Grid grid = gridNow();
    const QPointF inside = point - grid.area.topLeft();
    if (inside.x() < 0 || inside.y() < 0)
        return {};
    const int column = static_cast<int>(inside.x() / grid.nodeWidth);
    const int node = static_cast<int>(inside.y() / grid.nodeHeight) * grid.columns + column;
    const int local = static_cast<int>((inside.x() - column * grid.nodeWidth) / grid.cellWidth);
    const int rank = node * m_mesh.perNode() + local;
    if (column >= grid.columns || node >= grid.nodes || local >= m_mesh.perNode() || rank >= m_mesh.ranks()
        || !cellIn(grid, rank).contains(point))
        return {};
    return rank;
}

void RankMeshView::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const Grid grid = gridNow();
    paintLegend(painter, area, theme);
    if (grid.area.height() < px(12))
        return;
    paintCells(painter, grid, theme);
    if (m_current)
        paintGroups(painter, grid, theme);
    paintText(painter, area, theme);
}

void RankMeshView::paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const
{
    const int baseline = area.top() + px(10);
    int x = area.left();
    const int stages = m_mesh.layout().pp;
    for (int stage = 0; stage < std::min<int>(stages, std::size(kStageLooks)) && x < area.right() - px(120); ++stage) {
        const StageLook& look = lookOf(stage);
        const bool repeats = stages > static_cast<int>(std::size(kStageLooks));
        const QString text = repeats ? tr("P%1, P%2 \u2026").arg(stage).arg(stage + int(std::size(kStageLooks)))
                                     : tr("Stage %1").arg(stage);
        x = drawLegend(painter, x, baseline, theme.*look.color, text, look.fill, theme);
    }
    if (!m_current)
        return;
    for (const GroupLook& group : kGroups) {
        if (m_mesh.layout().degree(group.dimension) == 1)
            continue;
        const QString text = tr("%1 group").arg(dimensionLabel(group.dimension));
        const int width = px(24) + painter.fontMetrics().horizontalAdvance(text);
        if (x + width > area.right())
            break;
        painter.setPen(QPen(theme.*group.color, 2, group.style));
        painter.drawLine(x, baseline - px(4), x + px(18), baseline - px(4));
        painter.setPen(theme.muted);
        painter.drawText(x + px(24), baseline, text);
        x += width + px(16);
    }
}

void RankMeshView::paintCells(QPainter& painter, const Grid& grid, const Theme& theme) const
{
    painter.setFont(scaledFont(-1));
    const int textHeight = painter.fontMetrics().height();
    const bool numbers = grid.cellHeight >= textHeight
        && grid.cellWidth >= painter.fontMetrics().horizontalAdvance(QString::number(m_mesh.ranks())) + 4;
    const QString widest = QStringLiteral("T0 C0 P0 D00");
    const bool coordinates = grid.cellHeight >= 2 * textHeight + 2
        && grid.cellWidth >= painter.fontMetrics().horizontalAdvance(widest) + 6;
    const bool outlines = grid.cellWidth >= 6 && grid.cellHeight >= 5;
    const int last = std::min(m_mesh.ranks(), grid.nodes * m_mesh.perNode());
    for (int rank = 0; rank < last; ++rank) {
        const Coordinates at = m_mesh.at(rank);
        const StageLook& look = lookOf(at.pp);
        const QRectF cell = cellIn(grid, rank).adjusted(0, 0, outlines ? -1 : 0, 0);
        if (!outlines) {
            painter.fillRect(cell, theme.*look.color);
            continue;
        }
        fillShape(painter, cell, theme.*look.color, look.fill, theme);
        if (!numbers)
            continue;
        painter.setPen(hasLightText(at.pp) && look.fill == Fill::solid ? theme.onDarkBar : theme.onLightBar);
        QString text = QString::number(rank);
        if (coordinates) {
            text += QStringLiteral("\nT%1 C%2 P%3 D%4").arg(at.tp).arg(at.cp).arg(at.pp).arg(at.dp);
        }
        painter.drawText(cell, Qt::AlignCenter, text);
    }
}

void RankMeshView::paintGroups(QPainter& painter, const Grid& grid, const Theme& theme) const
{
    painter.setBrush(Qt::NoBrush);
    for (const GroupLook& group : kGroups) {
        if (m_mesh.layout().degree(group.dimension) == 1)
            continue;
        for (const int rank : m_mesh.group(*m_current, group.dimension)) {
            const QRectF cell = cellIn(grid, rank);
            if (cell.isEmpty() || rank == *m_current)
                continue;
            const QRectF frame = cell.adjusted(1, 1, -2, -1);
            painter.setPen(QPen(theme.panel, 5));
            painter.drawRect(frame);
            painter.setPen(QPen(theme.*group.color, 3, group.style));
            painter.drawRect(frame);
        }
    }
    painter.setPen(QPen(theme.panel, 6));
    painter.drawRect(cellIn(grid, *m_current).adjusted(1, 1, -2, -1));
    painter.setPen(QPen(theme.text, 4));
    painter.drawRect(cellIn(grid, *m_current).adjusted(1, 1, -2, -1));
}

void RankMeshView::paintText(QPainter& painter, const QRect& area, const Theme& theme) const
{
    QStringList lines;
    if (m_current) {
        lines = m_mesh.describe(*m_current);
    } else {
        lines << tr("Point at a GPU, or use the arrow keys, to see its groups.");
        const int drawn = gridNow().nodes;
        if (drawn < m_mesh.nodes())
            lines << tr("The first %1 of %2 nodes are drawn; the table has all.")
                         .arg(grouped(drawn), grouped(m_mesh.nodes()));
    }
    painter.setFont(scaledFont(-0.5));
    int y = area.bottom() - px(kTextHeight) + px(6);
    for (int i = 0; i < lines.size(); ++i) {
        painter.setPen(i == 0 && m_current ? theme.text : theme.muted);
        painter.drawText(QRect(area.left(), y, area.width(), px(16)), Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(lines[i], Qt::ElideRight, area.width()));
        y += px(15);
    }
}

void RankMeshView::setCurrent(std::optional<int> rank)
{
    if (m_current == rank)
        return;
    m_current = rank;
    setAccessibleDescription(rank ? m_mesh.describe(*rank).join(QStringLiteral(". ")) : subtitle());
    update();
}

void RankMeshView::mouseMoveEvent(QMouseEvent* event)
{
    setCurrent(rankAt(event->position()));
}

void RankMeshView::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    setCurrent(rankAt(event->position()));
    if (m_current)
        emit stageClicked(m_mesh.at(*m_current).pp);
}

void RankMeshView::leaveEvent(QEvent* event)
{
    Card::leaveEvent(event);
    setCurrent({});
}

void RankMeshView::keyPressEvent(QKeyEvent* event)
{
    int step = 0;
    switch (event->key()) {
    case Qt::Key_Left:
        step = -1;
        break;
    case Qt::Key_Right:
        step = 1;
        break;
    case Qt::Key_Up:
        step = -m_mesh.perNode() * gridNow().columns;
        break;
    case Qt::Key_Down:
        step = m_mesh.perNode() * gridNow().columns;
        break;
    default:
        break;
    }
    if (step == 0 || isEmpty()) {
        Card::keyPressEvent(event);
        return;
    }
    setCurrent(m_current ? std::clamp(*m_current + step, 0, m_mesh.ranks() - 1) : 0);
}

} // namespace fourfold::ui
