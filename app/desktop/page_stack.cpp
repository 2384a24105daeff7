// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/page_stack.h"

#include <QCoreApplication>

namespace fourfold::ui {

PageStack::PageStack(const PageContext& context)
{
    for (const PageEntry& entry : pageList()) {
        Page* page = entry.make(context);
        connect(page, &Page::message, this, &PageStack::message);
        addWidget(page);
    }
}

QStringList PageStack::ids()
{
    QStringList ids;
    for (const PageEntry& entry : pageList())
        ids << QString::fromLatin1(entry.id);
    return ids;
}

QString PageStack::title(int index)
{
    return QCoreApplication::translate("Page", pageList()[static_cast<std::size_t>(index)].title);
}

int PageStack::indexOf(const QString& id)
{
    return static_cast<int>(ids().indexOf(id));
}

Page& PageStack::at(int index) const
{
    return *static_cast<Page*>(widget(index));
}

QVariantMap PageStack::states() const
{
    QVariantMap states;
    for (int i = 0; i < count(); ++i)
        states.insert(ids()[i], at(i).state());
    return states;
}

void PageStack::restore(const QVariantMap& states)
{
    for (int i = 0; i < count(); ++i)
        at(i).restore(states.value(ids()[i]).toMap());
}

} // namespace fourfold::ui
