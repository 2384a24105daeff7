// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/chooser_accessible.h"

#include "app/desktop/widgets/panels/announcer.h"

#include <QAbstractItemView>
#include <QAccessible>
#include <QAccessibleWidget>
#include <QComboBox>

namespace fourfold::ui {

namespace {
// One that nobody writes into; its words are text that is not edited.
class ChooserInterface : public QAccessibleWidget, public QAccessibleTextInterface {
public:
    explicit ChooserInterface(QComboBox* box)
        : QAccessibleWidget(box, QAccessible::ComboBox)
    {
    }

    // Its name is what is chosen, as Qt has it where labels tell what for.
    [[nodiscard]] QString text(QAccessible::Text kind) const override
    {
        const bool isChosen = kind == QAccessible::Value || kind == QAccessible::Name;
        return isChosen ? box().currentText() : QAccessibleWidget::text(kind);
    }
    [[nodiscard]] QAccessible::State state() const override
    {
        QAccessible::State state = QAccessibleWidget::state();
        state.expandable = true;
        state.expanded = box().view()->isVisible();
        state.collapsed = !state.expanded;
        state.readOnly = true;
        return state;
    }
    void* interface_cast(QAccessible::InterfaceType type) override
    {
        return type == QAccessible::TextInterface ? static_cast<QAccessibleTextInterface*>(this)
                                                  : QAccessibleWidget::interface_cast(type);
    }

    // The list of what can be chosen.
    [[nodiscard]] int childCount() const override { return 1; }
    [[nodiscard]] QAccessibleInterface* child(int index) const override
    {
        return index == 0 ? QAccessible::queryAccessibleInterface(box().view()) : nullptr;
    }
    [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override
    {
        return child && child->object() == box().view() ? 0 : -1;
    }

    [[nodiscard]] QStringList actionNames() const override { return {showMenuAction(), pressAction()}; }
    void doAction(const QString& action) override
    {
        if (action != showMenuAction() && action != pressAction())
            return;
        if (box().view()->isVisible())
            box().hidePopup();
        else
            box().showPopup();
    }
    [[nodiscard]] QStringList keyBindingsForAction(const QString&) const override { return {}; }

    // Text of one line without a caret.
    void selection(int, int* from, int* to) const override { *from = *to = 0; }
    [[nodiscard]] int selectionCount() const override { return 0; }
    void addSelection(int, int) override { }
    void removeSelection(int) override { }
    void setSelection(int, int, int) override { }
    [[nodiscard]] int cursorPosition() const override { return 0; }
    void setCursorPosition(int) override { }
    [[nodiscard]] QString text(int from, int to) const override { return box().currentText().mid(from, to - from); }
    [[nodiscard]] int characterCount() const override { return static_cast<int>(box().currentText().size()); }
    [[nodiscard]] QRect characterRect(int) const override { return rect(); }
    [[nodiscard]] int offsetAtPoint(const QPoint&) const override { return 0; }
    void scrollToSubstring(int, int) override { }
    QString attributes(int, int* from, int* to) const override
    {
        *from = 0;
        *to = characterCount();
        return {};
    }

private:
    [[nodiscard]] QComboBox& box() const { return *static_cast<QComboBox*>(object()); }
};

// Asked for once per box, and only where somebody listens.
QAccessibleInterface* makeInterface(const QString&, QObject* object)
{
    auto* box = qobject_cast<QComboBox*>(object);
    if (!box || box->isEditable())
        return nullptr;
    // Orca passes over a new name or value of a combo box.
    QObject::connect(box, &QComboBox::currentTextChanged, box, [box](const QString& chosen) {
        if (box->hasFocus() && !box->view()->isVisible())
            announce(*box, chosen);
    });
    return new ChooserInterface(box);
}
} // namespace

void installChooserAccessibility()
{
    QAccessible::installFactory(makeInterface);
}

} // namespace fourfold::ui
