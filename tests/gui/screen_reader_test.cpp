// SPDX-License-Identifier: GPL-3.0-or-later
// A walk through each page as a screen reader makes it, through Qt's accessibility tree alone: what every control is
// called, is and holds, in which order it is reached, what a picture says in words, and what a table reads out.
#include "app/desktop/page_stack.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractItemModel>
#include <QAccessible>
#include <QComboBox>
#include <QPushButton>
#include <QTableView>

#include <functional>
#include <set>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
using Told = QAccessibleInterface;

const std::set<QAccessible::Role> kControls{QAccessible::PushButton, QAccessible::CheckBox, QAccessible::RadioButton,
    QAccessible::ComboBox, QAccessible::EditableText, QAccessible::SpinBox, QAccessible::Slider, QAccessible::PageTab,
    QAccessible::PageTabList, QAccessible::Table, QAccessible::List, QAccessible::Tree, QAccessible::Chart,
    QAccessible::ButtonMenu, QAccessible::ButtonDropDown};

QString nameOf(const Told& told)
{
    return told.text(QAccessible::Name);
}

// The way to it, for a message.
QString pathOf(const Told& told)
{
    QStringList path;
    for (const Told* at = &told; at && path.size() < 5; at = at->parent()) {
        const QObject* object = at->object();
        path.prepend(QStringLiteral("%1 %2 \"%3\"")
                         .arg(int(at->role()))
                         .arg(object ? QString::fromLatin1(object->metaObject()->className()) + QLatin1Char(' ')
                                     + object->objectName()
                                     : QString(),
                             nameOf(*at)));
    }
    return path.join(QStringLiteral(" > "));
}

bool isShown(const Told& told)
{
    return told.isValid() && !told.state().invisible && !told.state().offscreen;
}

// Everything on show under `root`; not what a table, list or tree holds, nor the parts of a field.
void walk(Told& root, const std::function<void(Told&)>& look)
{
    look(root);
    const QAccessible::Role role = root.role();
    if (role == QAccessible::Table || role == QAccessible::List || role == QAccessible::Tree
        || role == QAccessible::ComboBox || role == QAccessible::SpinBox)
        return;
    for (int i = 0; i < root.childCount(); ++i) {
        if (Told* child = root.child(i); child && isShown(*child))
            walk(*child, look);
    }
}

// What is wrong with a control as it is read out; empty: nothing.
QString fault(Told& told)
{
    const QAccessible::Role role = told.role();
    if (role == QAccessible::LayeredPane && nameOf(told).trimmed().isEmpty())
        return QStringLiteral("is said whenever the focus comes into it, and says nothing");
    if (told.state().focusable && (role == QAccessible::NoRole || role == QAccessible::Client))
        return QStringLiteral("is reached and is nothing");
    if (!kControls.contains(role))
        return {};
    const QWidget* widget = qobject_cast<const QWidget*>(told.object());
    const bool isReached = told.state().focusable || (widget && widget->focusPolicy() != Qt::NoFocus);
    if (nameOf(told).trimmed().isEmpty() && (isReached || role == QAccessible::PageTab))
        return QStringLiteral("has no name");
    switch (role) {
    case QAccessible::SpinBox:
    case QAccessible::Slider:
        if (!told.valueInterface() || !told.valueInterface()->currentValue().isValid())
            return QStringLiteral("has no value");
        break;
    case QAccessible::ComboBox:
        // Its name is what is chosen: what for is told by its label.
        if (told.relations(QAccessible::Label).isEmpty())
            return QStringLiteral("has no label");
        if (told.text(QAccessible::Value).isEmpty() && told.childCount() > 0) {
            const Told* list = told.child(0);
            if (list && list->childCount() > 0)
                return QStringLiteral("has no value");
        }
        break;
    case QAccessible::EditableText:
        if (!told.textInterface())
            return QStringLiteral("has no text");
        break;
    case QAccessible::CheckBox:
        if (!told.state().checkable)
            return QStringLiteral("cannot be ticked");
        break;
    case QAccessible::Chart:
        if (told.text(QAccessible::Description).trimmed().isEmpty())
            return QStringLiteral("says nothing in words");
        break;
    case QAccessible::Table:
        if (!told.tableInterface())
            return QStringLiteral("has no cells to read");
        break;
    default:
        break;
    }
    return {};
}

// Of two that follow each other by Tab: whether the second stands before the first to who reads from the left and top.
bool isBackwards(const QWidget& first, const QWidget& second, const QWidget& window)
{
    const QWidget *a = &first, *b = &second;
    std::set<const QWidget*> above;
    for (const QWidget* at = a; at; at = at->parentWidget())
        above.insert(at);
    const QWidget* common = b;
    while (common && !above.contains(common))
        common = common->parentWidget();
    if (!common || common == a || common == b)
        return false; // a field inside the other
    const auto branch = [common](const QWidget* at) {
        while (at->parentWidget() != common)
            at = at->parentWidget();
        return at;
    };
    const QRect one(branch(a)->mapTo(&window, QPoint()), branch(a)->size());
    const QRect two(branch(b)->mapTo(&window, QPoint()), branch(b)->size());
    const bool isAbove = two.bottom() < one.top(), isLeft = two.right() < one.left();
    const bool isRight = two.left() > one.right(), isBelow = two.top() > one.bottom();
    return (isAbove && !isRight) || (isLeft && !isBelow);
}

struct Fixture : test::WindowFixture {
    Fixture()
        : WindowFixture({}, {1440, 900})
    {
        open(QStringLiteral("reader.plan.json"));
        answered();
    }
    // With something to read on it.
    void show(const QString& page)
    {
        window.showPage(page);
        if (page == QLatin1String("search")) {
            test::click(*child<QPushButton>("search"));
            QVERIFY(QTest::qWaitFor([&] { return !window.searchPage().service().isRunning(); }, test::kPatience));
        } else if (page == QLatin1String("history")) {
            QVERIFY(
                window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
        }
        QTest::qWait(120); // pictures that wait for the page to be on show
    }
    [[nodiscard]] Told& told() { return *QAccessible::queryAccessibleInterface(&window); }
};

void pages()
{
    QTest::addColumn<QString>("page");
    for (const QString& page : PageStack::ids())
        QTest::newRow(qPrintable(page)) << page;
}
} // namespace

class ScreenReaderTest : public QObject {
    Q_OBJECT
private slots:
    void everyControlHasNameRoleAndValue_data() { pages(); }
    void everyControlHasNameRoleAndValue()
    {
        QFETCH(QString, page);
        Fixture w;
        w.show(page);
        int controls = 0;
        QStringList faults;
        walk(w.told(), [&](Told& told) {
            if (const QString found = fault(told); !found.isEmpty())
                faults << pathOf(told) + QStringLiteral(": ") + found;
            controls += kControls.contains(told.role()) ? 1 : 0;
        });
        QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
        QVERIFY2(controls > 15, qPrintable(QString::number(controls)));
    }

    void theFocusGoesAsOneReads_data() { pages(); }
    void theFocusGoesAsOneReads()
    {
        QFETCH(QString, page);
        Fixture w;
        w.show(page);
        QStringList faults;
        int stops = 0;
        const QWidget* root = w.window.pages().currentWidget();
        for (QWidget *at = w.window.pages().currentWidget()->nextInFocusChain(), *before = nullptr, *first = at;;
             at = at->nextInFocusChain()) {
            const bool isStop = root->isAncestorOf(at) && at->isVisible() && at->isEnabled()
                && (at->focusPolicy() & Qt::TabFocus) && !at->focusProxy();
            if (isStop) {
                if (before && isBackwards(*before, *at, w.window))
                    faults << QStringLiteral("%1 comes after %2")
                                  .arg(pathOf(*QAccessible::queryAccessibleInterface(at)),
                                      pathOf(*QAccessible::queryAccessibleInterface(before)));
                before = at;
                ++stops;
            }
            if (at->nextInFocusChain() == first)
                break;
        }
        QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
        QVERIFY2(stops > 8, qPrintable(QString::number(stops)));
    }

    // Orca reads a combo box by its text, and passes over a new name or value.
    void aChooserSaysWhatItStandsAt()
    {
        Fixture w;
        w.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&w.window));
        auto* box = w.child<QComboBox>("layout.order");
        Told* told = QAccessible::queryAccessibleInterface(box);
        QVERIFY(told && told->textInterface());
        const auto said = [&] { return told->textInterface()->text(0, told->textInterface()->characterCount()); };
        QCOMPARE(said(), box->currentText());
        box->setFocus();
        const QString before = box->currentText();
        QTest::keyClick(box, box->currentIndex() > 0 ? Qt::Key_Up : Qt::Key_Down);
        QVERIFY(box->currentText() != before);
        QCOMPARE(said(), box->currentText());
        QVERIFY(test::announcements(w.window).contains(box->currentText()));
    }

    // Row by row and cell by cell, with the title of the column.
    void tablesAreReadCellByCell()
    {
        Fixture w;
        int tables = 0;
        for (const QString& page : {QStringLiteral("search"), QStringLiteral("compare"), QStringLiteral("history")}) {
            w.show(page);
            walk(w.told(), [&](Told& told) {
                auto* view = qobject_cast<QTableView*>(told.object());
                if (told.role() != QAccessible::Table || !view || view->model()->rowCount() == 0)
                    return;
                QAccessibleTableInterface& table = *told.tableInterface();
                const QAbstractItemModel& model = *view->model();
                QCOMPARE(table.rowCount(), model.rowCount());
                QCOMPARE(table.columnCount(), model.columnCount());
                for (int row = 0; row < std::min(3, model.rowCount()); ++row) {
                    for (int column = 0; column < model.columnCount(); ++column) {
                        const Told* cell = table.cellAt(row, column);
                        QVERIFY(cell);
                        const QModelIndex at = model.index(row, column);
                        const QVariant words = at.data(Qt::AccessibleTextRole); // where a sign stands for them
                        QCOMPARE(nameOf(*cell), (words.isValid() ? words : at.data()).toString());
                        QCOMPARE(table.columnDescription(column), model.headerData(column, Qt::Horizontal).toString());
                    }
                }
                ++tables;
            });
        }
        QVERIFY2(tables >= 3, qPrintable(QString::number(tables)));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<ScreenReaderTest>(argc, argv);
}

#include "screen_reader_test.moc"
