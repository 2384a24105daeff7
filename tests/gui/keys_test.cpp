// SPDX-License-Identifier: GPL-3.0-or-later
// The command finder, and keys that the user gives to commands.
#include "app/desktop/command_palette.h"
#include "app/desktop/keys_dialog.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

class KeysTest : public QObject {
    Q_OBJECT
private slots:
    void commandsAreFoundByWords()
    {
        test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("palette.plan.json")));
        w.window.showPage(QStringLiteral("search")); // settings of other pages are found too
        CommandPalette palette(
            CommandPalette::commandsOf(&w.window,
                {w.window.settingsOf(QStringLiteral("search")), w.window.settingsOf(QStringLiteral("plan"))}),
            &w.window);
        auto& model = const_cast<CommandModel&>(palette.model());
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const int all = model.rowCount();
        QVERIFY(all > 30);
        auto* filter = palette.findChild<QLineEdit*>();
        palette.show();
        QTest::keyClicks(filter, QStringLiteral("default layout"));
        QCOMPARE(model.index(0).data().toString(), QStringLiteral("Restore default layout"));
        filter->clear();
        QTest::keyClicks(filter, QStringLiteral("tensor degree"));
        QVERIFY(model.rowCount() >= 1);
        QTest::keyClick(filter, Qt::Key_Return);
        QCOMPARE(palette.result(), int(QDialog::Accepted));
        w.window.activateWindow();
        palette.runChosen();
        QCOMPARE(w.window.page(), QStringLiteral("plan"));
        QTRY_COMPARE(w.window.focusWidget()->objectName(), QStringLiteral("layout.tp"));
        palette.show();
        filter->setText(QStringLiteral("no such command at all"));
        QCOMPARE(model.rowCount(), 0);
        auto* nothing = palette.findChild<QLabel*>(QStringLiteral("nothingFound"));
        QVERIFY(nothing->isVisible());
        filter->clear();
        QVERIFY(!nothing->isVisible());
    }

    void keysCanBeChangedAndComeBack()
    {
        test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("keys.plan.json")));
        KeyBindings& keys = w.window.keys();
        const QAbstractItemModelTester tester(&keys, QAbstractItemModelTester::FailureReportingMode::QtTest);
        KeysDialog dialog(keys, &w.window);
        dialog.show();
        auto* table = dialog.findChild<QTableView*>(QStringLiteral("keys"));
        auto* edit = dialog.findChild<QKeySequenceEdit*>(QStringLiteral("newKeys"));
        auto* said = dialog.findChild<QLabel*>(QStringLiteral("keysSaid"));
        dialog.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        edit->setFocus();
        QTRY_VERIFY(edit->hasFocus());
        const QString finder = QStringLiteral("edit.find-a-setting-or-command");
        int row = 0;
        while (!keys.index(row, KeyBindings::command)
                    .data()
                    .toString()
                    .endsWith(QLatin1String("Find a setting or command")))
            QVERIFY(++row < keys.rowCount());
        table->setCurrentIndex(keys.index(row, 0));
        const auto press = [&](Qt::Key key, Qt::KeyboardModifiers modifiers) {
            QTest::keyClick(QApplication::focusWidget(), key, modifiers);
        };
        press(Qt::Key_S, Qt::ControlModifier); // Save has it
        QTRY_VERIFY2(
            said->text().contains(QLatin1String("Save")), qPrintable(said->text())); // a press ends after a second
        QCOMPARE(keys.keysOf(finder), QStringLiteral("Ctrl+K"));
        press(Qt::Key_W, {}); // the timeline has it
        QTRY_VERIFY2(said->text().contains(QLatin1String("Pictures")), qPrintable(said->text()));
        QCOMPARE(keys.keysOf(finder), QStringLiteral("Ctrl+K"));
        press(Qt::Key_J, Qt::ControlModifier);
        QTRY_COMPARE(keys.keysOf(finder), QStringLiteral("Ctrl+J"));
        QVERIFY(keys.index(row, KeyBindings::keys).data().toString().startsWith(QLatin1String("Ctrl+J")));
        QVERIFY(!w.child<QPushButton>("find")->text().contains(QLatin1String("Ctrl+K")));
        QVERIFY(w.child<QPushButton>("find")->toolTip().contains(QLatin1String("Ctrl+J")));
        const QVariantMap chosen = keys.chosen();
        QCOMPARE(chosen.size(), 1);
        dialog.close();

        test::WindowFixture next;
        next.window.keys().restore(chosen);
        QCOMPARE(next.window.keys().keysOf(finder), QStringLiteral("Ctrl+J"));
        // Two commands that changed places, one that is gone, and one whose keys another has.
        next.window.keys().restore({{QStringLiteral("file.save"), QStringLiteral("Ctrl+O")},
            {QStringLiteral("file.open"), QStringLiteral("Ctrl+S")},
            {QStringLiteral("file.gone"), QStringLiteral("F9")},
            {QStringLiteral("file.close-plan"), QStringLiteral("Ctrl+1")}});
        QCOMPARE(next.window.keys().keysOf(QStringLiteral("file.save")), QStringLiteral("Ctrl+O"));
        QCOMPARE(next.window.keys().keysOf(QStringLiteral("file.open")), QStringLiteral("Ctrl+S"));
        QCOMPARE(next.window.keys().keysOf(QStringLiteral("file.close-plan")), QStringLiteral("Ctrl+W"));
        QCOMPARE(next.window.keys().chosen().size(), 2);
        next.window.keys().assignAllUsual();
        QVERIFY(next.window.keys().chosen().isEmpty());
    }
};

int main(int argc, char** argv)
{
    return test::runTests<KeysTest>(argc, argv);
}

#include "keys_test.moc"
