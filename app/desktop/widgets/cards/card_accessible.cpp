// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/card_accessible.h"

#include "app/desktop/widgets/cards/card.h"

#include <QAccessible>
#include <QAccessibleWidget>

namespace fourfold::ui {

namespace {
class CardInterface : public QAccessibleWidget {
public:
    explicit CardInterface(Card* card)
        : QAccessibleWidget(card, QAccessible::Chart)
    {
    }

    [[nodiscard]] QString text(QAccessible::Text kind) const override
    {
        const Card& card = *static_cast<const Card*>(object());
        switch (kind) {
        case QAccessible::Name:
            return card.accessibleName().isEmpty() ? card.title() : card.accessibleName();
        case QAccessible::Description:
            return card.isStale() ? Card::tr("For the last valid plan. %1").arg(card.spoken()) : card.spoken();
        case QAccessible::Help:
            return card.hasTable() ? Card::tr("Ctrl+Shift+T shows it as a table; the context menu has exports.")
                                   : QString();
        default:
            return QAccessibleWidget::text(kind);
        }
    }
};

QAccessibleInterface* makeInterface(const QString&, QObject* object)
{
    auto* card = qobject_cast<Card*>(object);
    return card ? new CardInterface(card) : nullptr;
}
} // namespace

void installCardAccessibility()
{
    QAccessible::installFactory(makeInterface);
}

} // namespace fourfold::ui
