// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/layout_state.h"

#include "app/desktop/widgets/tables/data_table.h"

#include <QHeaderView>

#include <algorithm>
#include <numeric>

namespace fourfold::ui {

namespace {
constexpr const char* kShares = "fourfoldShares";
constexpr const char *kKept = "fourfoldKept", *kDesigned = "fourfoldDesigned";
constexpr int kSplitterSpan = 10'000; // QSplitter::setSizes takes proportions when the numbers are large

void setShares(QSplitter* splitter, const QList<int>& shares)
{
    const int total = std::max(1, std::accumulate(shares.begin(), shares.end(), 0));
    QList<int> sizes;
    for (const int share : shares)
        sizes << share * kSplitterSpan / total;
    splitter->setSizes(sizes);
}

QString keyOf(const QWidget* widget)
{
    return widget->objectName();
}

// Calls `each` with every widget that keeps a property, its name there and the property.
template <typename Each>
void forEachKept(const QWidget* window, Each&& each)
{
    for (auto* widget : window->findChildren<QWidget*>()) {
        if (const QByteArray property = widget->property(kKept).toByteArray();
            !property.isEmpty() && !keyOf(widget).isEmpty())
            each(*widget, QStringLiteral("%1.%2").arg(keyOf(widget), QString::fromLatin1(property)), property);
    }
}
} // namespace

QSplitter* makeSplitter(
    const QString& name, Qt::Orientation orientation, const QList<QWidget*>& parts, const QList<int>& shares)
{
    return arrangeSplitter(new QSplitter(orientation), name, parts, shares);
}

QSplitter* arrangeSplitter(
    QSplitter* splitter, const QString& name, const QList<QWidget*>& parts, const QList<int>& shares)
{
    splitter->setObjectName(name);
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(1);
    for (int i = 0; i < parts.size(); ++i) {
        splitter->addWidget(parts[i]);
        splitter->setStretchFactor(i, shares.value(i, 1));
    }
    splitter->setProperty(kShares, QVariant::fromValue(shares));
    setShares(splitter, shares);
    return splitter;
}

void keepProperty(QWidget* widget, const char* property)
{
    widget->setProperty(kKept, QByteArray(property));
    widget->setProperty(kDesigned, widget->property(property));
}

LayoutState layoutOf(const QWidget* window)
{
    LayoutState state;
    // Of several of one name, as each open plan has, the one on show.
    const auto keep = [&state](const QWidget& widget, const QString& key, const QVariant& value) {
        if (!key.isEmpty() && (widget.isVisible() || !state.contains(key)))
            state[key] = value;
    };
    for (const auto* splitter : window->findChildren<QSplitter*>())
        keep(*splitter, keyOf(splitter), splitter->saveState());
    for (const auto* table : window->findChildren<DataTable*>()) {
        if (table->model())
            keep(*table, keyOf(table), table->horizontalHeader()->saveState());
    }
    forEachKept(window, [&keep](const QWidget& widget, const QString& key, const QByteArray& property) {
        keep(widget, key, widget.property(property));
    });
    return state;
}

void applyLayout(QWidget* window, const LayoutState& state)
{
    for (auto* splitter : window->findChildren<QSplitter*>()) {
        if (const auto found = state.find(keyOf(splitter)); found != state.end())
            splitter->restoreState(found->toByteArray());
    }
    for (auto* table : window->findChildren<DataTable*>()) {
        if (const auto found = state.find(keyOf(table)); found != state.end())
            table->horizontalHeader()->restoreState(found->toByteArray());
    }
    forEachKept(window, [&state](QWidget& widget, const QString& key, const QByteArray& property) {
        if (const auto found = state.find(key); found != state.end())
            widget.setProperty(property, *found);
    });
}

void resetLayout(QWidget* window)
{
    for (auto* splitter : window->findChildren<QSplitter*>()) {
        const QVariant shares = splitter->property(kShares);
        if (shares.isValid())
            setShares(splitter, shares.value<QList<int>>());
    }
    for (auto* table : window->findChildren<DataTable*>())
        table->resetColumns();
    forEachKept(window, [](QWidget& widget, const QString&, const QByteArray& property) {
        widget.setProperty(property, widget.property(kDesigned));
    });
}

} // namespace fourfold::ui
