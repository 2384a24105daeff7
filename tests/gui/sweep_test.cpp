// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts and GPUs as a heat map: predicted, measured and error; published tables as series; the comparison's report.
#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/models/shared/text.h"
#include "app/view/compare/published.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QComboBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;

namespace {
const char* const kTable = FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv";

struct Fixture : test::WindowFixture {
    Fixture()
    {
        open(QStringLiteral("sweep.plan.json"));
        answered();
        window.showPage(QStringLiteral("compare"));
    }
    ComparePage& page() { return window.comparePage(); }
    SweepView& sweep() { return page().sweep(); }
    HeatMap& map() { return sweep().map(); }
    // Does something that makes a new grid, and waits for it.
    template <typename Work>
    bool remade(Work work)
    {
        QSignalSpy ready(&sweep(), &SweepView::ready);
        work();
        return ready.count() > 0 || ready.wait(kPatience);
    }
};
} // namespace

class SweepTest : public QObject {
    Q_OBJECT
private slots:
    void layoutsOfThePlanArePredicted()
    {
        Fixture w;
        auto* views = w.child<QTabBar>("compareViews");
        QVERIFY(w.remade([&] { QVERIFY(test::clickTab(*views, QStringLiteral("Layouts and GPUs"))); }));
        const HeatGrid& grid = w.map().grid();
        QVERIFY(grid.rows.size() >= 4);
        QCOMPARE(grid.columns.size(), 5);
        QVERIFY(!grid.diverging);
        QVERIFY(w.sweep().summary().isEmpty());
        // The plan's own layout on its own GPUs says what the plan says.
        const int row = int(grid.rows.indexOf(QStringLiteral("tp 2, cp 1, pp 1, mb 1")));
        QVERIFY(row >= 0);
        const HeatCell* cell = grid.at(row, int(grid.columns.indexOf(QStringLiteral("16"))));
        QVERIFY(cell && cell->value);
        QVERIFY(std::abs(*cell->value / *w.document().prediction()->tps_per_gpu - 1) < 1e-9);
    }

    void aPublishedTableIsHeldAgainstItsPrediction()
    {
        Fixture w;
        w.page().showView(ComparePage::View::sweep);
        QVERIFY(w.remade([&] { QVERIFY(w.sweep().useTable(kTable)); }));
        QVERIFY(w.map().grid().diverging); // errors come first: that is what the table is for
        QVERIFY2(w.sweep().summary().contains(QStringLiteral("mean error")), qPrintable(w.sweep().summary()));
        int errors = 0, failed = 0;
        for (const auto& row : w.map().grid().cells) {
            for (const HeatCell& cell : row) {
                errors += cell.value ? 1 : 0;
                failed += cell.state == HeatCell::State::failed ? 1 : 0;
            }
        }
        QVERIFY2(errors > 20 && failed > 0, qPrintable(QStringLiteral("%1 %2").arg(errors).arg(failed)));
        const QImage error = w.map().grab().toImage();
        w.sweep().setShow(HeatShow::measured);
        QVERIFY(!w.map().grid().diverging);
        QVERIFY(w.map().grab().toImage() != error);
        const Table table = w.map().table();
        QVERIFY(table.columns.size() > 4 && !table.rows.empty());
    }

    void aCellIsChosenByKeysAndAppliedToThePlan()
    {
        Fixture w;
        QVERIFY(w.remade([&] { w.page().showView(ComparePage::View::sweep); }));
        const HeatGrid& grid = w.map().grid();
        const int row = int(grid.rows.indexOf(QStringLiteral("tp 4, cp 1, pp 1, mb 1")));
        QVERIFY(row >= 0);
        w.map().setFocus();
        QTest::keyClick(&w.map(), Qt::Key_Down);
        QCOMPARE(w.map().selected(), std::optional(HeatMap::Place(0, 0)));
        while (w.map().selected()->first < row)
            QTest::keyClick(&w.map(), Qt::Key_Down);
        for (int i = 0; i < 2; ++i)
            QTest::keyClick(&w.map(), Qt::Key_Right);
        QCOMPARE(grid.columns[w.map().selected()->second], QStringLiteral("16"));
        QVERIFY(w.map().accessibleDescription().contains(QStringLiteral("tp 4")));
        QTest::keyClick(&w.map(), Qt::Key_D);
        auto* derivation = w.window.findChild<DerivationDialog*>();
        QVERIFY(derivation);
        QCOMPARE(fromUtf8(derivation->model().root().label), QStringLiteral("throughput"));
        QVERIFY2(derivation->windowTitle().contains(QStringLiteral("TP 4")), qPrintable(derivation->windowTitle()));
        delete derivation;
        const Json before = w.document().plan().document;
        QTest::keyClick(&w.map(), Qt::Key_Return);
        QCOMPARE(w.window.page(), QStringLiteral("plan"));
        QCOMPARE(w.document().resolved()->layout.tp, 4);
        w.document().undoStack().undo();
        QVERIFY(w.document().plan().document == before);
    }

    void aCellIsChosenByTheMouseAndCompared()
    {
        Fixture w;
        QVERIFY(w.remade([&] { w.page().showView(ComparePage::View::sweep); }));
        const HeatMap::Place place{int(w.map().grid().rows.indexOf(QStringLiteral("tp 2, cp 1, pp 1, mb 1"))), 3};
        QTest::mouseClick(&w.map(), Qt::LeftButton, {}, w.map().cellRect(place).center().toPoint());
        QCOMPARE(w.map().selected(), std::optional(place));
        QTest::mouseClick(w.child<QPushButton>("sweepCompare"), Qt::LeftButton);
        QCOMPARE(w.child<QTabBar>("compareViews")->currentIndex(), 0);
        QCOMPARE(w.page().model().entries().size(), std::size_t(2));
    }

    void aTableIsASeriesOfTheScalingChart()
    {
        Fixture w;
        const Expected<MeasuredTable> table = view::read_table(kTable, w.presets);
        QVERIFY2(table.has_value(), table ? "" : table.error().line().c_str());
        QTRY_COMPARE(w.page().model().entries().size(), std::size_t(1));
        QSignalSpy ready(&w.page().charts(), &CompareCharts::scalingReady);
        w.page().addSeries(*table);
        w.page().addSeries(*table); // once is enough
        QVERIFY(QTest::qWaitFor([&] { return w.page().charts().scaling().seriesCount() >= 2; }, kPatience));
        QVERIFY(w.page().charts().scaling().seriesCount() <= 5);
    }

    void theComparisonIsAPageOfPdf()
    {
        Fixture w;
        QTest::keyClick(&w.window, Qt::Key_D, Qt::ControlModifier);
        w.document().setValue("layout.tp", 4, QStringLiteral("Change"));
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("compare"));
        QTRY_COMPARE(w.page().model().entries().size(), std::size_t(2));
        const ReportPage page = w.page().report();
        QVERIFY(page.parts.size() >= 3);
        QVERIFY(page.parts.front().table.rows.size() > 10);
        const QString file = test::Home::the().path(QStringLiteral("comparison.pdf"));
        QVERIFY(writeReport(page, file).has_value());
        QVERIFY(test::readFile(file).startsWith("%PDF"));
        QCOMPARE(test::readFile(file).count("/Type /Page\n"), 1);
        QVERIFY(w.remade([&] { w.page().showView(ComparePage::View::sweep); }));
        const QString map = test::Home::the().path(QStringLiteral("sweep.pdf"));
        QVERIFY(writeReport(w.page().report(), map).has_value());
        QCOMPARE(test::readFile(map).count("/Type /Page\n"), 1);
    }
};

int main(int argc, char** argv)
{
    return test::runTests<SweepTest>(argc, argv);
}

#include "sweep_test.moc"
