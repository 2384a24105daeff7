// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the list, made and stacked in its order; one is on show.
#pragma once

#include "app/desktop/pages/page.h"

#include <QStackedWidget>

namespace fourfold::ui {

class PageStack : public QStackedWidget {
    Q_OBJECT
public:
    explicit PageStack(const PageContext& context);

    static QStringList ids();
    static QString title(int index);
    static int indexOf(const QString& id); // -1: there is no such page

    [[nodiscard]] Page& at(int index) const;
    [[nodiscard]] Page& current() const { return at(currentIndex()); }
    // The page of a class.
    template <class P>
    [[nodiscard]] P& of() const
    {
        return *findChild<P*>(QString(), Qt::FindDirectChildrenOnly);
    }

    // For the session, by the pages' ids.
    [[nodiscard]] QVariantMap states() const;
    void restore(const QVariantMap& states);

signals:
    void message(const QString& text); // of any page
};

} // namespace fourfold::ui
