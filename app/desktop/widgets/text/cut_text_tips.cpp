// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/text/cut_text_tips.h"

#include "app/desktop/look/app_style.h"
#include "app/desktop/widgets/text/elided_label.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLineEdit>
#include <QStyle>
#include <QStyleOptionTab>
#include <QTabBar>
#include <QToolTip>

namespace fourfold::ui {

namespace {
// A text that has less room than it needs; empty: all of it is on show.
struct Cut {
    QString text;
    QRect place;
};

// With what else is told there, which does not hold what the text says.
QString withOwnTip(const QString& text, const QString& tip)
{
    return tip.contains(text) ? tip : tip.isEmpty() ? text : text + QLatin1Char('\n') + tip;
}

Cut cutHeading(const QHeaderView& header, const QPoint& at)
{
    const int section = header.logicalIndexAt(at);
    if (section < 0 || !header.model() || header.sectionSizeHint(section) <= header.sectionSize(section))
        return {};
    const auto told
        = [&](int role) { return header.model()->headerData(section, header.orientation(), role).toString(); };
    return {withOwnTip(told(Qt::DisplayRole), told(Qt::ToolTipRole)),
        {header.sectionViewportPosition(section), 0, header.sectionSize(section), header.height()}};
}

Cut cutItem(const QAbstractItemView& view, const QPoint& at)
{
    const QModelIndex index = view.indexAt(at);
    const QRect place = view.visualRect(index);
    const int room = place.intersected(view.viewport()->rect()).width();
    if (!index.isValid() || view.sizeHintForIndex(index).width() <= room)
        return {};
    return {withOwnTip(index.data().toString(), index.data(Qt::ToolTipRole).toString()), place};
}

Cut cutTab(const QTabBar& bar, const QPoint& at)
{
    const int tab = bar.tabAt(at);
    if (tab < 0 || !bar.tabToolTip(tab).isEmpty())
        return {};
    QStyleOptionTab option;
    option.initFrom(&bar);
    const QRect place = bar.tabRect(tab);
    const int room = place.width() - bar.style()->pixelMetric(QStyle::PM_TabBarTabHSpace, &option, &bar);
    return bar.fontMetrics().horizontalAdvance(bar.tabText(tab)) > room ? Cut{bar.tabText(tab), place} : Cut{};
}

Cut cutChoice(const QComboBox& box)
{
    QStyleOptionComboBox option;
    option.initFrom(&box);
    option.currentText = box.currentText();
    return shownChoice(option, &box) == box.currentText() ? Cut{} : Cut{box.currentText(), box.rect()};
}

Cut cutLabel(const ElidedLabel& label)
{
    const bool isCut = label.fontMetrics().horizontalAdvance(label.text()) > label.contentsRect().width();
    return isCut ? Cut{label.text(), label.rect()} : Cut{};
}

// The words in a field that nothing is written in.
Cut cutPlaceholder(const QLineEdit& edit)
{
    const QRect place = edit.contentsRect();
    const int room = place.width() - 2 * edit.style()->pixelMetric(QStyle::PM_DefaultFrameWidth, nullptr, &edit) - 4;
    const bool isCut = edit.text().isEmpty() && edit.fontMetrics().horizontalAdvance(edit.placeholderText()) > room;
    return isCut ? Cut{edit.placeholderText(), place} : Cut{};
}
} // namespace

bool CutTextTips::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QObject::eventFilter(watched, event);
    auto* widget = qobject_cast<QWidget*>(watched);
    const auto* box = qobject_cast<QComboBox*>(widget);
    const bool mayAdd = box || qobject_cast<QLineEdit*>(widget); // to a tip of its own
    if (!widget || (!widget->toolTip().isEmpty() && !mayAdd))
        return QObject::eventFilter(watched, event);
    const auto* help = static_cast<QHelpEvent*>(event);
    Cut cut;
    if (const auto* header = qobject_cast<QHeaderView*>(widget->parentWidget()))
        cut = cutHeading(*header, help->pos());
    else if (const auto* view = qobject_cast<QAbstractItemView*>(widget->parentWidget()))
        cut = cutItem(*view, help->pos());
    else if (const auto* bar = qobject_cast<QTabBar*>(widget))
        cut = cutTab(*bar, help->pos());
    else if (const auto* edit = qobject_cast<QLineEdit*>(widget))
        cut = cutPlaceholder(*edit);
    else if (const auto* label = qobject_cast<ElidedLabel*>(widget))
        cut = cutLabel(*label);
    else if (box)
        cut = cutChoice(*box);
    if (cut.text.isEmpty())
        return QObject::eventFilter(watched, event);
    QToolTip::showText(help->globalPos(), withOwnTip(cut.text, widget->toolTip()), widget, cut.place);
    return true;
}

} // namespace fourfold::ui
