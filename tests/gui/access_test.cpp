// SPDX-License-Identifier: GPL-3.0-or-later
// The window without a mouse and without eyes: names and descriptions of everything, a way to everything by Tab with a
// focus that can be seen, nothing cut at 200 %.
#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "tests/gui/support.h"

#include <QAbstractButton>
#include <QAccessible>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>

#include <set>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;

namespace {
struct Fixture : test::WindowFixture {
    explicit Fixture(QSize size = {1440, 900})
        : WindowFixture({}, size)
    {
        open(QStringLiteral("access.plan.json"));
        answered();
    }
    void show(const QString& page)
    {
        window.showPage(page);
        QTest::qWait(120); // pictures that wait for the page to be on show
    }
    template <typename Widget>
    QList<Widget*> visible()
    {
        QList<Widget*> found = window.findChildren<Widget*>();
        found.removeIf([](const Widget* widget) { return !widget->isVisible(); });
        return found;
    }
};

const QStringList kPages{QStringLiteral("plan"), QStringLiteral("search"), QStringLiteral("compare"),
    QStringLiteral("runs"), QStringLiteral("history")};

QString path(const QWidget* widget)
{
    return QStringLiteral("%1 \"%2\" in %3")
        .arg(QString::fromLatin1(widget->metaObject()->className()), widget->objectName(),
            widget->parentWidget() ? QString::fromLatin1(widget->parentWidget()->metaObject()->className())
                                   : QString());
}

bool isInput(const QWidget* widget)
{
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget)
        || qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget)
        || qobject_cast<const QTableView*>(widget) || qobject_cast<const QPlainTextEdit*>(widget)
        || qobject_cast<const QTabBar*>(widget);
}

// Inside another widget that is the one with the name: a spin box's line, a combo box's list, a scroll bar's arrows.
bool isPart(const QWidget* widget)
{
    for (const QWidget* at = widget->parentWidget(); at; at = at->parentWidget()) {
        if (qobject_cast<const QAbstractSpinBox*>(at) || qobject_cast<const QComboBox*>(at)
            || qobject_cast<const QLineEdit*>(at) || qobject_cast<const QTabBar*>(at)
            || qobject_cast<const QTableView*>(at) || at->inherits("QToolBar") || at->inherits("QMenuBar"))
            return true;
    }
    return false;
}
} // namespace

class AccessTest : public QObject {
    Q_OBJECT
private slots:
    void everyPictureIsAChartWithNameAndWords()
    {
        Fixture w;
        int charts = 0;
        for (const QString& page : kPages) {
            w.show(page);
            for (Card* card : w.visible<Card>()) {
                QAccessibleInterface* told = QAccessible::queryAccessibleInterface(card);
                QVERIFY2(told, qPrintable(path(card)));
                QCOMPARE(told->role(), QAccessible::Chart);
                QVERIFY2(!told->text(QAccessible::Name).isEmpty(), qPrintable(path(card)));
                QVERIFY2(!told->text(QAccessible::Description).isEmpty(), qPrintable(path(card) + card->title()));
                ++charts;
            }
        }
        QVERIFY2(charts > 20, qPrintable(QString::number(charts)));
    }

    void everyInputHasAName()
    {
        Fixture w;
        int inputs = 0;
        for (const QString& page : kPages) {
            w.show(page);
            for (QWidget* widget : w.visible<QWidget>()) {
                if (!isInput(widget) || isPart(widget))
                    continue;
                QAccessibleInterface* told = QAccessible::queryAccessibleInterface(widget);
                QVERIFY2(told && !told->text(QAccessible::Name).isEmpty(), qPrintable(path(widget)));
                ++inputs;
            }
        }
        QVERIFY2(inputs > 60, qPrintable(QString::number(inputs)));
    }

    void everythingIsReachedByTab()
    {
        Fixture w;
        for (const QString& page : kPages) {
            w.show(page);
            std::set<const QWidget*> reached;
            QWidget* first = nullptr;
            for (int i = 0; i < 400; ++i) {
                QTest::keyClick(w.window.focusWidget() ? w.window.focusWidget() : &w.window, Qt::Key_Tab);
                QWidget* at = w.window.focusWidget();
                QVERIFY2(at, "the focus is lost");
                if (!first)
                    first = at;
                else if (at == first)
                    break;
                reached.insert(at);
            }
            for (QWidget* widget : w.visible<QWidget>()) {
                const bool wanted = widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus)
                    && (isInput(widget) || qobject_cast<Card*>(widget)) && !isPart(widget) && !widget->focusProxy();
                QVERIFY2(!wanted || reached.contains(widget) || widget == first, qPrintable(path(widget)));
            }
        }
    }

    void theFocusCanBeSeen()
    {
        Fixture w;
        w.window.setAttribute(Qt::WA_KeyboardFocusChange); // as after the first press of Tab
        for (const QString& page : kPages) {
            w.show(page);
            for (QWidget* widget : w.visible<QWidget>()) {
                const bool shows = qobject_cast<Card*>(widget) || qobject_cast<QPushButton*>(widget)
                    || qobject_cast<QComboBox*>(widget);
                if (!shows || !widget->isEnabled() || !(widget->focusPolicy() & Qt::TabFocus) || isPart(widget)
                    || widget->focusProxy())
                    continue;
                w.window.setFocus();
                QTest::qWait(1);
                const QImage without = widget->grab().toImage();
                widget->setFocus(Qt::TabFocusReason);
                QTest::qWait(1);
                QVERIFY2(widget->grab().toImage() != without, qPrintable(path(widget)));
            }
        }
    }

    void nothingIsCutAtTwiceTheSize()
    {
        Fixture w({2560, 1600});
        w.window.setUiZoom(200);
        for (const QString& page : kPages) {
            w.show(page);
            for (QPushButton* button : w.visible<QPushButton>())
                QVERIFY2(button->width() >= button->minimumSizeHint().width()
                        && button->height() >= button->minimumSizeHint().height(),
                    qPrintable(path(button) + button->text()));
            for (QLabel* label : w.visible<QLabel>()) {
                if (label->wordWrap() || label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored
                    || label->text().isEmpty())
                    continue;
                QVERIFY2(label->width() >= label->minimumSizeHint().width()
                        && label->height() >= label->minimumSizeHint().height(),
                    qPrintable(path(label) + label->text()));
            }
        }
        w.window.setUiZoom(100);
    }

    void numbersInAHeatMapCanBeReadOnEveryColour()
    {
        const auto luminance = [](const QColor& color) {
            const auto channel = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
            return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) + 0.0722 * channel(color.blueF());
        };
        for (int red = 0; red < 256; red += 15) {
            for (int green = 0; green < 256; green += 15) {
                for (int blue = 0; blue < 256; blue += 15) {
                    const QColor ground(red, green, blue);
                    const double one = luminance(ground), two = luminance(HeatMap::inkOn(ground));
                    const double contrast = (std::max(one, two) + 0.05) / (std::min(one, two) + 0.05);
                    QVERIFY2(contrast >= 4.5, qPrintable(ground.name()));
                }
            }
        }
    }

    void aHeatMapSaysItsCells()
    {
        Fixture w;
        QSignalSpy ready(&w.window.comparePage().sweep(), &SweepView::ready);
        w.window.showPage(QStringLiteral("compare"));
        w.window.comparePage().showView(ComparePage::View::sweep);
        QVERIFY(ready.count() > 0 || ready.wait(kPatience));
        HeatMap& map = w.window.comparePage().sweep().map();
        map.setFocus();
        QTest::keyClick(&map, Qt::Key_Down);
        QAccessibleInterface* told = QAccessible::queryAccessibleInterface(&map);
        QVERIFY(told->text(QAccessible::Description).contains(QStringLiteral("tp 1")));
        QVERIFY(told->text(QAccessible::Help).contains(QStringLiteral("table")));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<AccessTest>(argc, argv);
}

#include "access_test.moc"
