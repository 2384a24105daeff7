// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/stack_accessible.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QStackedWidget>

namespace fourfold::ui {

namespace {
class StackInterface : public QAccessibleWidget {
public:
    explicit StackInterface(QStackedWidget* stack)
        : QAccessibleWidget(stack, QAccessible::Client)
    {
    }
    // The page on show alone: the others cannot be reached.
    [[nodiscard]] int childCount() const override { return page() ? 1 : 0; }
    [[nodiscard]] QAccessibleInterface* child(int index) const override
    {
        return index == 0 && page() ? QAccessible::queryAccessibleInterface(page()) : nullptr;
    }
    [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override
    {
        return child && page() && child->object() == page() ? 0 : -1;
    }

private:
    [[nodiscard]] QWidget* page() const { return static_cast<const QStackedWidget*>(object())->currentWidget(); }
};

QAccessibleInterface* makeStackInterface(const QString&, QObject* object)
{
    auto* stack = qobject_cast<QStackedWidget*>(object);
    return stack ? new StackInterface(stack) : nullptr;
}
} // namespace

void installStackAccessibility()
{
    QAccessible::installFactory(makeStackInterface);
}

} // namespace fourfold::ui
