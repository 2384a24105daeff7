// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/rank_mesh_view.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kMeshLegendHeight = 24;
constexpr int kTextLine = 15, kWordsWidth = 264; // of the words beside or under the picture
constexpr int kRoomBeside = 700; // from this width on they stand beside it
constexpr int kNodeWidth = 52; // "node 120"
constexpr double kLeastCell = 2.5; // pixels
constexpr double kMostCellWidth = 120, kMostCellHeight = 76;

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

void RankMeshView::showMesh(view::RankMesh mesh)
{
    m_mesh = std::move(mesh);
    if (m_current && *m_current >= m_mesh.ranks())
        m_current.reset();
    setSubtitle(m_mesh.ranks() == 0 ? QString()
                                    : tr("ranks go %1, innermost first; %2 of %3")
                                          .arg(fromUtf8(m_mesh.order_text()), counted(m_mesh.nodes(), tr("node")),
                                              counted(m_mesh.per_node(), tr("GPU"))));
    setAccessibleDescription(subtitle());
    update();
}

// The numbers of nodes in a line, and of lines in a node, that make the cells largest. A node stays one line unless two
// or four make its cells much larger, and lines of nodes are full ones unless that costs much.
RankMeshView::Grid RankMeshView::gridNow() const
{
    Grid grid;
    const QRect body = bodyArea().adjusted(0, px(kMeshLegendHeight), 0, 0);
    const bool beside = body.width() >= px(kRoomBeside);
    const int lineCount = 2 + static_cast<int>(m_mesh.describe_groups().size());
    const int below = lineCount * px(kTextLine) + px(4);
    grid.text = beside ? body.adjusted(body.width() - px(kWordsWidth), 0, 0, 0)
                       : QRect(body.left(), body.bottom() + 1 - below, body.width(), below);
    const int labels = m_mesh.nodes() > 1 ? px(kNodeWidth) : 0;
    grid.area = QRectF(body.adjusted(labels, 0, beside ? -px(kWordsWidth + 16) : 0, beside ? 0 : -below - px(6)));

    const int perNode = std::min(m_mesh.per_node(), std::max(1, m_mesh.ranks()));
    const int nodes = m_mesh.nodes();
    double best = 0;
    for (const int high : {1, 2, 4}) {
        if (perNode % high != 0 || perNode / high < 2)
            continue;
        const int across = perNode / high;
        for (int columns = 1; columns <= nodes; ++columns) {
            const int lines = (nodes + columns - 1) / columns;
            const double gap = columns > 24 || lines > 12 ? 2 : px(8);
            const double width = (grid.area.width() / columns - gap) / across;
            if (best > 0 && width < 1)
                break; // ever narrower from here on
            const double height = (grid.area.height() / lines - gap) / high;
            const double cell = std::min({width, height * 2.2, double(px(kMostCellWidth))});
            const double worth = cell * (high == 1 ? 1.5 : 1) * (nodes % columns == 0 ? 1.25 : 1);
            if (worth <= best)
                continue;
            best = worth;
            grid.columns = columns;
            grid.across = across;
            grid.gap = gap;
            grid.cellWidth = std::max(kLeastCell, std::min(width, double(px(kMostCellWidth))));
            grid.cellHeight = std::max(kLeastCell, std::min({height, grid.cellWidth, double(px(kMostCellHeight))}));
        }
    }
    grid.nodeWidth = grid.cellWidth * grid.across + grid.gap;
    grid.nodeHeight = grid.cellHeight * (perNode / grid.across) + grid.gap;
    const int fitting = std::max(1, static_cast<int>((grid.area.width() + grid.gap) / grid.nodeWidth));
    grid.columns = std::min(grid.columns, fitting);
    const int lines = std::max(1, static_cast<int>((grid.area.height() + grid.gap) / grid.nodeHeight));
    grid.nodes = std::min(nodes, grid.columns * lines);
    return grid;
}

QRectF RankMeshView::cellIn(const Grid& grid, int rank) const
{
    const int node = m_mesh.node_of(rank), local = m_mesh.local_of(rank);
    if (node >= grid.nodes)
        return {};
    const double x = grid.area.left() + (node % grid.columns) * grid.nodeWidth + (local % grid.across) * grid.cellWidth;
    const double y
        = grid.area.top() + (node / grid.columns) * grid.nodeHeight + (local / grid.across) * grid.cellHeight;
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
    const int line = static_cast<int>(std::fmod(inside.y(), grid.nodeHeight) / grid.cellHeight);
    const int local = line * grid.across + static_cast<int>((inside.x() - column * grid.nodeWidth) / grid.cellWidth);
    const int rank = node * m_mesh.per_node() + local;
    if (column >= grid.columns || node >= grid.nodes || local >= m_mesh.per_node() || rank >= m_mesh.ranks()
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
    paintNodes(painter, grid, theme);
    paintCells(painter, grid, theme);
    if (m_current)
        paintGroups(painter, grid, theme);
    else if (marksStage() && m_mesh.layout().pp > 1)
        paintStage(painter, grid, theme);
    paintText(painter, grid, theme);
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
        const QString text = tr("%1 group").arg(fromUtf8(view::dimension_label(group.dimension)));
        if (x + px(24) + painter.fontMetrics().horizontalAdvance(text) > area.right())
            break;
        painter.setPen(QPen(theme.*group.color, 2, group.style));
        painter.drawLine(x, baseline - px(4), x + px(18), baseline - px(4));
        x = drawLegendText(painter, x + px(24), baseline, text, theme);
    }
}

// Each line of nodes begins with the number of its first one.
void RankMeshView::paintNodes(QPainter& painter, const Grid& grid, const Theme& theme) const
{
    painter.setFont(scaledFont(-1));
    painter.setPen(theme.muted);
    const double height = grid.nodeHeight - grid.gap;
    const int every = std::max(1, static_cast<int>(std::ceil(painter.fontMetrics().height() / grid.nodeHeight)));
    for (int line = 0; m_mesh.nodes() > 1 && line * grid.columns < grid.nodes; line += every) {
        const QRectF place(bodyArea().left(), grid.area.top() + line * grid.nodeHeight, px(kNodeWidth - 6), height);
        painter.drawText(
            place, Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, tr("node %1").arg(line * grid.columns));
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
    const int last = std::min(m_mesh.ranks(), grid.nodes * m_mesh.per_node());
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

void RankMeshView::paintStage(QPainter& painter, const Grid& grid, const Theme& theme) const
{
    painter.setBrush(Qt::NoBrush);
    const bool isWide = grid.cellWidth >= 12 && grid.cellHeight >= 12;
    const int last = std::min(m_mesh.ranks(), grid.nodes * m_mesh.per_node());
    for (int rank = 0; rank < last; ++rank) {
        if (m_mesh.at(rank).pp != m_stage)
            continue;
        const QRectF frame = cellIn(grid, rank).adjusted(1, 1, -2, -1);
        if (isWide) { // stands out from the cell, whatever its colour
            painter.setPen(QPen(theme.panel, 5));
            painter.drawRect(frame);
        }
        painter.setPen(QPen(theme.accent, isWide ? 3 : 1));
        painter.drawRect(frame);
    }
}

void RankMeshView::paintText(QPainter& painter, const Grid& grid, const Theme& theme) const
{
    QStringList lines;
    if (m_current) {
        lines = fromUtf8(m_mesh.describe(*m_current));
    } else {
        lines << tr("Point at a GPU, or use the arrow keys, to see its groups.") << fromUtf8(m_mesh.describe_groups());
        if (marksStage() && m_mesh.layout().pp > 1)
            lines << tr("Framed: the %1 of stage %2.")
                         .arg(counted(m_mesh.ranks() / m_mesh.layout().pp, tr("GPU")))
                         .arg(m_stage);
        if (grid.nodes < m_mesh.nodes())
            lines << tr("The first %1 of %2 nodes are drawn; the table has all.")
                         .arg(grouped(grid.nodes), grouped(m_mesh.nodes()));
    }
    painter.setFont(scaledFont(-0.5));
    const bool beside = grid.text.left() > grid.area.left();
    int y = grid.text.top();
    for (int i = 0; i < lines.size() && y + px(kTextLine) <= grid.text.bottom() + 1; ++i) {
        painter.setPen(i == 0 && m_current ? theme.text : theme.muted);
        const QRect rest(grid.text.left(), y, grid.text.width(), grid.text.bottom() + 1 - y);
        if (!beside) {
            cut().draw(painter, QRect(rest.topLeft(), QSize(rest.width(), px(kTextLine))),
                Qt::AlignLeft | Qt::AlignVCenter, lines[i]);
            y += px(kTextLine);
            continue;
        }
        QRect used;
        painter.drawText(rest, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, lines[i], &used);
        y += used.height() + px(5);
    }
}

void RankMeshView::setCurrent(std::optional<int> rank)
{
    if (m_current == rank)
        return;
    m_current = rank;
    setAccessibleDescription(rank ? fromUtf8(m_mesh.describe(*rank)).join(QStringLiteral(". ")) : subtitle());
    update();
}

void RankMeshView::setSelectedStage(int stage)
{
    m_stage = stage;
    update();
}

void RankMeshView::tellStage()
{
    if (m_current)
        emit stageClicked(m_mesh.at(*m_current).pp);
}

void RankMeshView::chooseRow(int row)
{
    if (row < m_mesh.ranks())
        setCurrent(row);
    tellStage();
}

void RankMeshView::mouseMoveEvent(QMouseEvent* event)
{
    setCurrent(rankAt(event->position()));
}

void RankMeshView::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    setCurrent(rankAt(event->position()));
    tellStage();
}

void RankMeshView::leaveEvent(QEvent* event)
{
    Card::leaveEvent(event);
    setCurrent({});
}

// The rank above (-1) or below (1), in the same node or the next line of nodes; the same where there is none.
int RankMeshView::inNextLine(int rank, int direction) const
{
    const Grid grid = gridNow();
    const int row = m_mesh.local_of(rank) / grid.across + direction;
    const int rows = (m_mesh.per_node() + grid.across - 1) / grid.across;
    int next = rank + direction * grid.across;
    if (row < 0 || row >= rows) {
        const int node = m_mesh.node_of(rank) + direction * grid.columns;
        const int column = m_mesh.local_of(rank) % grid.across;
        next = node * m_mesh.per_node() + (direction > 0 ? 0 : (rows - 1) * grid.across) + column;
    }
    return next >= 0 && next < m_mesh.ranks() ? next : rank;
}

void RankMeshView::keyPressEvent(QKeyEvent* event)
{
    const int across = stepAcross(*event), down = stepDown(*event);
    if (m_current && isEnter(*event))
        tellStage();
    else if (isEmpty() || (across == 0 && down == 0))
        Card::keyPressEvent(event);
    else if (!m_current)
        setCurrent(0);
    else if (across != 0)
        setCurrent(std::clamp(*m_current + across, 0, m_mesh.ranks() - 1));
    else
        setCurrent(inNextLine(*m_current, down));
}

} // namespace fourfold::ui
