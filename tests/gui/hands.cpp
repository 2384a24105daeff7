// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/hands.h"

#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTest>
#include <QTimer>

#include <memory>

namespace fourfold::ui::test {

namespace {
constexpr int kBlink = 15; // milliseconds between two looks at what is open
constexpr int kLooks = 400;

QString plain(QString text)
{
    return text.remove(QLatin1Char('&')).remove(QChar(0x2026));
}

QAction* entryOf(const QMenu& menu, const QString& text)
{
    for (QAction* action : menu.actions()) {
        if (plain(action->text()).startsWith(plain(text)) && action->isEnabled())
            return action;
    }
    return nullptr;
}

// Follows `entries` through the menus that open, from the timer of a nested event loop.
struct MenuWalk {
    explicit MenuWalk(QStringList entries)
        : entries(std::move(entries))
    {
        QObject::connect(&timer, &QTimer::timeout, &timer, [this] { look(); });
        timer.start(kBlink);
    }

    void look()
    {
        if (++looks > kLooks)
            giveUp();
        else if (auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget()))
            lookAt(*menu);
        else if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget()))
            answer(*dialog);
    }

    void lookAt(QMenu& menu)
    {
        if (entries.isEmpty() || &menu == last)
            return;
        QAction* action = entryOf(menu, entries.front());
        if (!action)
            return giveUp();
        entries.removeFirst();
        last = &menu;
        if (action->menu()) { // it opens on the pointer
            menu.setActiveAction(action);
            QTest::keyClick(&menu, Qt::Key_Right);
        } else {
            // A dialog that it opens runs inside the click, and a timer does not fire inside itself.
            QTimer::singleShot(0, &menu, [&menu, at = menu.actionGeometry(action).center()] {
                QTest::mouseClick(&menu, Qt::LeftButton, {}, at);
            });
        }
    }

    void answer(QFileDialog& dialog)
    {
        asked = true;
        QTimer::singleShot(0, &dialog, &QDialog::reject);
    }

    void giveUp()
    {
        timer.stop();
        failed = true;
        qWarning("there is no entry %s", qPrintable(entries.join(QStringLiteral(" > "))));
        while (QWidget* popup = QApplication::activePopupWidget())
            popup->close();
        if (QWidget* modal = QApplication::activeModalWidget())
            modal->close();
    }

    [[nodiscard]] bool done() const { return !failed && entries.isEmpty(); }

    QStringList entries;
    QTimer timer;
    QMenu* last = nullptr;
    int looks = 0;
    bool failed = false, asked = false;
};

bool finish(MenuWalk& walk)
{
    return QTest::qWaitFor([&] { return walk.failed || walk.done(); }, kBlink * kLooks) && walk.done();
}
} // namespace

void click(QWidget& widget)
{
    QTest::mouseClick(&widget, Qt::LeftButton);
}

bool choose(QComboBox& box, const QString& text)
{
    const int index = box.findText(text, Qt::MatchContains);
    if (index < 0) {
        qWarning("the list has no %s", qPrintable(text));
        return false;
    }
    click(box);
    QAbstractItemView* list = box.view();
    if (!QTest::qWaitFor([&] { return list->isVisible(); })) {
        qWarning("the list did not open");
        return false;
    }
    list->setCurrentIndex(box.model()->index(index, box.modelColumn()));
    QTest::keyClick(list, Qt::Key_Return);
    if (QTest::qWaitFor([&] { return !list->isVisible() && box.currentText().contains(text); }))
        return true;
    qWarning("the list shows %s", qPrintable(box.currentText()));
    return false;
}

void type(QSpinBox& box, int value)
{
    auto* line = box.findChild<QLineEdit*>();
    QTest::mouseClick(line, Qt::LeftButton);
    box.selectAll();
    QTest::keyClicks(&box, QString::number(value));
    QTest::keyClick(&box, Qt::Key_Return);
}

bool clickTab(QTabBar& bar, const QString& text)
{
    for (int i = 0; i < bar.count(); ++i) {
        if (bar.isTabVisible(i) && bar.tabText(i).startsWith(text)) {
            QTest::mouseClick(&bar, Qt::LeftButton, {}, bar.tabRect(i).center());
            return bar.currentIndex() == i;
        }
    }
    return false;
}

bool clickMenu(QPushButton& button, const QStringList& entries, bool* asked)
{
    MenuWalk walk(entries);
    click(button);
    const bool done = finish(walk);
    if (asked)
        *asked = walk.asked;
    return done;
}

bool clickMenuBar(QWidget& window, const QStringList& entries)
{
    auto* bar = window.findChild<QMenuBar*>();
    for (QAction* action : bar->actions()) {
        if (!plain(action->text()).startsWith(entries.front()))
            continue;
        MenuWalk walk(entries.mid(1));
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->actionGeometry(action).center());
        return finish(walk);
    }
    return false;
}

QStringList announcements(const QWidget& window)
{
    QStringList words;
    for (QWidget* child : window.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        const QAccessibleInterface* told = QAccessible::queryAccessibleInterface(child);
        if (told && told->role() == QAccessible::Notification)
            words << told->text(QAccessible::Name);
    }
    return words;
}

} // namespace fourfold::ui::test
