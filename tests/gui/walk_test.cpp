// SPDX-License-Identifier: GPL-3.0-or-later
// A new user's first quarter of an hour, by clicks and keys alone: from the window as it opens to two plans side by
// side and their comparison in files. What was awkward in it, and what became of that, is in
// resources/reports/first-walk.md.
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractItemModel>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>

using namespace fourfold;
using namespace fourfold::ui;
using namespace fourfold::ui::test;

namespace {
struct Fixture : WindowFixture {
    Fixture()
        : WindowFixture({}, {1440, 900})
    {
        window.openStartPlan();
    }
    bool mode(const QString& name) { return clickTab(*child<QTabBar>("modes"), name); }
    // Of the plan on show: other tabs have fields of the same name.
    template <typename Widget>
    Widget& field(const char* name)
    {
        return *window.planPage().findChild<Widget*>(QString::fromLatin1(name));
    }
    QString verdict() { return field<QLabel>("verdict").text(); }
    // What a person does with a red field: takes the value that is offered, as often as one is.
    void takeOffers()
    {
        for (int i = 0; i < 8; ++i) {
            QPushButton* offer = nullptr;
            for (auto* button : window.planPage().findChildren<QPushButton*>(QStringLiteral("useNearest"))) {
                if (button->isVisible())
                    offer = button;
            }
            if (!offer)
                return;
            click(*offer);
        }
    }
};
} // namespace

class WalkTest : public QObject {
    Q_OBJECT
private slots:
    void fromTheFirstWindowToAnExportedComparison()
    {
        Fixture w;
        // The window does not open empty: the example is there with its answer.
        QVERIFY(w.answered());
        QCOMPARE(w.verdict(), QStringLiteral("Fits."));

        // My model on my machines.
        QVERIFY(choose(w.field<QComboBox>("model"), QStringLiteral("Llama 3.1 70B")));
        QVERIFY(choose(w.field<QComboBox>("cluster"), QStringLiteral("DGX H100")));
        type(w.field<QSpinBox>("gpus"), 64);
        QCOMPARE(w.field<QSpinBox>("training.seq_len").value(), 8192); // it went with the model
        type(w.field<QSpinBox>("training.global_batch"), 512);
        type(w.field<QSpinBox>("layout.tp"), 8);
        type(w.field<QSpinBox>("layout.pp"), 4);
        QVERIFY(choose(w.field<QComboBox>("training.precision"), QStringLiteral("BF16")));
        w.takeOffers();
        QVERIFY(w.answered());
        QVERIFY(w.document().isValid());
        QCOMPARE(w.document().resolved()->gpus, 64);

        // Where it does not fit, the line under the figures says what would make it fit, with a button.
        auto& apply = w.field<QPushButton>("applyAdvice");
        if (w.verdict() != QStringLiteral("Fits.")) {
            QVERIFY(QTest::qWaitFor([&] { return apply.isEnabled(); }, kPatience));
            click(apply);
            QVERIFY(w.answered());
        }
        QVERIFY2(
            w.verdict() == QStringLiteral("Fits.") || w.verdict() == QStringLiteral("Tight."), qPrintable(w.verdict()));

        // Is another layout better? Compare has the plan already, and a button that adds a copy to change.
        QVERIFY(w.mode(QStringLiteral("Compare")));
        ComparePage& compare = w.window.comparePage();
        QTRY_COMPARE(compare.model().entries().size(), std::size_t(1));
        QVERIFY(clickMenu(*w.child<QPushButton>("compareAdd"), {QStringLiteral("Copy of the open plan")}));
        QCOMPARE(w.window.page(), QStringLiteral("plan")); // where it is changed
        QCOMPARE(w.window.plans().count(), 2);
        QVERIFY(w.answered());
        const int before = w.document().resolved()->layout.tp;
        type(w.field<QSpinBox>("layout.tp"), before == 8 ? 4 : 8);
        w.takeOffers();
        QVERIFY(w.answered());
        QVERIFY(w.mode(QStringLiteral("Compare")));
        QTRY_COMPARE(compare.model().entries().size(), std::size_t(2));
        QVERIFY(compare.model().columnCount() == 3);

        // Into files: the table for a spreadsheet, and a page with the charts.
        auto& exports = *w.child<QPushButton>("compareExport");
        bool asked = false;
        QVERIFY(clickMenu(exports, {QStringLiteral("Export table"), QStringLiteral("CSV")}, &asked));
        QVERIFY(asked); // for a file
        const QString csv = Home::the().path(QStringLiteral("comparison.csv"));
        QVERIFY(writeTable(compare.model().table(), csv).has_value());
        QVERIFY(readFile(csv).contains("Llama 3.1 70B"));
        QVERIFY(clickMenu(exports, {QStringLiteral("Report with charts")}, &asked));
        QVERIFY(asked);
        const QString pdf = Home::the().path(QStringLiteral("walk.pdf"));
        QVERIFY(writeReport(compare.report(), pdf).has_value());
        QVERIFY(readFile(pdf).startsWith("%PDF"));
    }

    void theSearchsBestGoesIntoTheComparison()
    {
        Fixture w;
        QVERIFY(w.answered());
        QVERIFY(clickMenuBar(
            w.window, {QStringLiteral("File"), QStringLiteral("Open example"), QStringLiteral("Llama 3.1 8B")}));
        QVERIFY(w.answered());
        click(*w.child<QPushButton>("searchLayouts"));
        QCOMPARE(w.window.page(), QStringLiteral("search"));
        QVERIFY(QTest::qWaitFor([&] { return !w.window.searchPage().service().isRunning(); }, kPatience));
        auto& results = *w.child<QTableView>("results");
        QTRY_VERIFY(results.model()->rowCount() > 10);
        for (const int row : {0, 1}) {
            const QModelIndex at = results.model()->index(row, 1);
            QTest::mouseClick(results.viewport(), Qt::LeftButton, {}, results.visualRect(at).center());
            QTest::keyClick(&results, Qt::Key_P);
        }
        QTest::keyClick(&results, Qt::Key_C);
        QCOMPARE(w.window.page(), QStringLiteral("compare"));
        QTRY_VERIFY(w.window.comparePage().model().entries().size() >= 3);
    }
};

int main(int argc, char** argv)
{
    return runTests<WalkTest>(argc, argv);
}

#include "walk_test.moc"
