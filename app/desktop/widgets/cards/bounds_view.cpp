// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/bounds_view.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"
#include "app/view/prediction/bound_words.h"
#include "core/report/views/plan_tables.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kBoundNameWidth = 230;
constexpr int kVerdictWidth = 430;
constexpr int kBoundsLegendHeight = 26;
} // namespace

BoundsView::BoundsView(QWidget* parent)
    : Card(tr("What bounds it"), parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("The conditions appear here as soon as the plan is valid."));
}

void BoundsView::showBounds(Bounds bounds)
{
    m_bounds = std::move(bounds);
    setSubtitle(tr("one layer's forward pass (TP, FSDP, EP), one stage's (PP): does computing hide communicating?"));
    QStringList lines;
    for (const LinkBound& link : m_bounds.links)
        lines << fromUtf8(view::bound_name(link) + ": " + view::bound_condition(link));
    setAccessibleDescription(lines.join(QStringLiteral(". ")));
    update();
}

void BoundsView::clear()
{
    m_bounds = {};
    update();
}

double BoundsView::rowHeight(const QRect& area) const
{
    return std::min(double(px(38)), double(area.height() - px(kBoundsLegendHeight)) / double(m_bounds.links.size()));
}

void BoundsView::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    int x = drawLegend(painter, area.left(), area.top() + px(10), theme.forward, tr("Compute"), Fill::solid, theme);
    x = drawLegend(painter, x, area.top() + px(10), theme.communication, tr("Communication"), Fill::hatched, theme);
    painter.setPen(theme.muted);
    painter.drawText(x, area.top() + px(10), tr("Bold: the plan's own group; others as they would be"));
    double longest = 0;
    for (const LinkBound& link : m_bounds.links)
        longest = std::max({longest, link.bound.compute_s(link.batch), link.bound.communication_s(link.batch)});
    const double height = rowHeight(area);
    double y = area.top() + px(kBoundsLegendHeight);
    for (const LinkBound& link : m_bounds.links) {
        paintRow(painter, QRectF(area.left(), y, area.width(), height), link, longest, theme);
        y += height;
    }
}

void BoundsView::paintRow(
    QPainter& painter, const QRectF& line, const LinkBound& link, double longest, const Theme& theme) const
{
    painter.setFont(scaledFont(-0.25, link.used ? QFont::DemiBold : QFont::Normal));
    painter.setPen(theme.text);
    cut().draw(painter, QRectF(line.left(), line.top(), px(kBoundNameWidth) - px(8), line.height()),
        Qt::AlignLeft | Qt::AlignVCenter, fromUtf8(view::bound_name(link)));
    const double verdict = std::min(double(px(kVerdictWidth)), line.width() * 0.45);
    const double room = line.width() - px(kBoundNameWidth) - verdict - px(12);
    const double bar = std::max(3.0, std::min(double(px(11)), line.height() / 2 - 3));
    const double top = line.center().y() - bar - 1;
    const auto length
        = [&](double seconds) { return longest > 0 ? std::max(1.0, std::round(seconds / longest * room)) : 1.0; };
    fillShape(painter, QRectF(line.left() + px(kBoundNameWidth), top, length(link.bound.compute_s(link.batch)), bar),
        theme.forward, Fill::solid, theme);
    fillShape(painter,
        QRectF(line.left() + px(kBoundNameWidth), top + bar + 2, length(link.bound.communication_s(link.batch)), bar),
        theme.communication, Fill::hatched, theme);
    const bool hidden = link.compute_bound();
    painter.setFont(scaledFont(-0.5));
    const QRectF words(line.right() - verdict, line.top(), verdict, line.height());
    const QString word = hidden ? tr("Compute-bound") : tr("Communication-bound");
    painter.setFont(scaledFont(-0.5, QFont::DemiBold));
    painter.setPen(hidden ? theme.good : theme.warning);
    const int lineHeight = painter.fontMetrics().height();
    const bool twoLines = line.height() >= 2 * lineHeight;
    const QRectF first(words.left(), twoLines ? line.center().y() - lineHeight : line.top(), verdict,
        twoLines ? lineHeight : line.height());
    painter.drawText(first, Qt::AlignLeft | Qt::AlignVCenter, word);
    if (!twoLines)
        return;
    painter.setFont(scaledFont(-0.75));
    painter.setPen(theme.muted);
    cut().draw(painter, first.translated(0, lineHeight), Qt::AlignLeft | Qt::AlignVCenter,
        fromUtf8(view::bound_condition(link)));
}

QString BoundsView::tipAt(const QPoint& point) const
{
    if (isEmpty())
        return {};
    const QRect area = bodyArea();
    const double index = (point.y() - area.top() - px(kBoundsLegendHeight)) / rowHeight(area);
    if (index < 0 || index >= double(m_bounds.links.size()))
        return {};
    const LinkBound& link = m_bounds.links[static_cast<std::size_t>(index)];
    return fromUtf8(view::bound_condition(link) + "\n" + view::bound_terms(link));
}

Table BoundsView::table() const
{
    return bounds_table(m_bounds);
}

} // namespace fourfold::ui
