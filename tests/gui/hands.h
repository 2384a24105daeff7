// SPDX-License-Identifier: GPL-3.0-or-later
// Clicks and keys as a person makes them, also through menus and dialogs, whose event loops do not return.
#pragma once

#include <QApplication>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <functional>
#include <utility>

class QComboBox;
class QPushButton;
class QSpinBox;
class QTabBar;
class QWidget;

namespace fourfold::ui::test {

void click(QWidget& widget);
// Opens the list by a click, goes to the entry whose text contains `text`, and takes it by Enter. False: there is none.
bool choose(QComboBox& box, const QString& text);
// Selects what is there and types over it.
void type(QSpinBox& box, int value);
// Clicks the tab whose text starts with `text`.
bool clickTab(QTabBar& bar, const QString& text);

// Gives `work` the first modal dialog of its kind that opens while this lives; it looks every `milliseconds`.
template <typename Dialog>
class WhenDialog {
public:
    explicit WhenDialog(std::function<void(Dialog&)> work, int milliseconds = 20)
        : m_work(std::move(work))
    {
        QObject::connect(&m_look, &QTimer::timeout, [this] {
            auto* dialog = qobject_cast<Dialog*>(QApplication::activeModalWidget());
            if (!dialog)
                return;
            m_look.stop();
            m_work(*dialog);
        });
        m_look.start(milliseconds);
    }
    [[nodiscard]] bool came() const { return !m_look.isActive(); }

private:
    std::function<void(Dialog&)> m_work;
    QTimer m_look;
};

// Opens the menu of a button by a click and clicks an entry of it, through its submenus where there are several texts.
// A file dialog that opens is dismissed, and told in `asked`. False: there is no such entry.
bool clickMenu(QPushButton& button, const QStringList& entries, bool* asked = nullptr);
// The same in the window's menu bar: the first text is the menu's.
bool clickMenuBar(QWidget& window, const QStringList& entries);

// What a screen reader was told of a window lately beside what has the focus, in its order.
QStringList announcements(const QWidget& window);

} // namespace fourfold::ui::test
