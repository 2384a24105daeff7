// SPDX-License-Identifier: GPL-3.0-or-later
// Where a number comes from, on every page that shows one.
#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/models/compare/compare_entry.h"
#include "app/models/shared/text.h"
#include "app/view/history/history_access.h"
#include "app/view/tables/saved_views.h"
#include "core/calibration/user/evidence.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QTreeView>

#include <cmath>
#include <memory>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;

namespace {
struct Fixture : test::WindowFixture {
    Fixture()
        : WindowFixture({}, {1440, 900})
    {
        open(QStringLiteral("derivations.plan.json"));
    }
    QTableView& table(const char* name) { return *window.findChild<QTableView*>(QString::fromLatin1(name)); }
    // What the key opens with the cursor there, at the part that is marked in it; nothing where nothing opens.
    std::optional<Explanation> opened(QTableView& table, int row, int column, Qt::Key key)
    {
        table.setCurrentIndex(table.model()->index(row, column));
        table.setFocus();
        QTest::keyClick(&table, key);
        const std::unique_ptr<DerivationDialog> dialog(window.findChild<DerivationDialog*>());
        if (!dialog)
            return {};
        const QString marked = dialog->findChild<QTreeView*>()->currentIndex().siblingAtColumn(0).data().toString();
        const Explanation& root = dialog->model().root();
        const Explanation* part = explanationAt(root, marked);
        return part ? *part : root;
    }
    std::optional<double> valueAt(QTableView& table, int row, int column, Qt::Key key)
    {
        const std::optional<Explanation> explanation = opened(table, row, column, key);
        return explanation ? explanation->value : std::nullopt;
    }
};
} // namespace

class DerivationsTest : public QObject {
    Q_OBJECT
private slots:
    void aFigureOpensItsDerivation()
    {
        Fixture w;
        QVERIFY(w.answered());
        FigureCard* step = w.window.planPage().figures()[3];
        step->setFocus();
        QTest::keyClick(step, Qt::Key_Return);
        auto* dialog = w.window.findChild<DerivationDialog*>();
        QVERIFY(dialog);
        ExplanationModel& model = dialog->model();
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 2); // and how sure it is
        const QModelIndex sure = model.index(1, 0);
        QVERIFY2(sure.data().toString().contains(QStringLiteral("90 %")), qPrintable(sure.data().toString()));
        QVERIFY(model.rowCount(sure) >= 2); // what was measured
        const QModelIndex root = model.index(0, 0);
        QVERIFY(model.rowCount(root) >= 2);
        double sum = 0;
        for (const Explanation& part : model.root().children)
            sum += part.value.value_or(0);
        QVERIFY(std::abs(sum - *w.window.document().prediction()->step_time_s) < 1e-6 * sum);
        dialog->close();
    }

    // Not those of the Plan page alone.
    void figuresSideBySideOpenTheirDerivation()
    {
        Fixture w;
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("compare"));
        QTableView& compared = w.table(view::kComparedTable);
        CompareModel& model = w.window.comparePage().model();
        QTRY_COMPARE(model.entries().size(), std::size_t(1));
        const Prediction& prediction = *w.document().prediction();
        const auto valueOf = [&](const QString& figure) -> std::optional<double> { // the last of its name
            for (int row = model.rowCount() - 1; row >= 0; --row) {
                if (model.index(row, 0).data().toString() == figure)
                    return w.valueAt(compared, row, 1, Qt::Key_Return);
            }
            return {};
        };
        QCOMPARE(valueOf(QStringLiteral("Tokens/s per GPU")), prediction.tps_per_gpu);
        QCOMPARE(valueOf(QStringLiteral("MFU")), prediction.mfu);
        QCOMPARE(valueOf(QStringLiteral("On the device")), prediction.memory_device_gib);
        QCOMPARE(valueOf(QStringLiteral("Activations")), std::optional(prediction.memory_by_stage.front().activations));
        QCOMPARE(valueOf(QStringLiteral("TP collectives")), std::optional(prediction.time_by_part[Part::tp]));
        QVERIFY(!valueOf(QStringLiteral("Model"))); // nothing is derived there
    }

    // D in a row of the found layouts, without a detour: the figure that the cursor is on.
    void foundLayoutsOpenTheirDerivation()
    {
        Fixture w;
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("search"));
        SearchPage& search = w.window.searchPage();
        QTableView& found = w.table(view::kFoundTable);
        QVERIFY(!w.opened(found, 0, 0, Qt::Key_D)); // nothing is found yet
        w.child<QLineEdit>("constraint")->setText(QStringLiteral("pp == 1 and cp == 1 and recompute == none"));
        test::click(*w.child<QPushButton>("search"));
        QVERIFY(QTest::qWaitFor([&] { return !search.service().isRunning(); }, kPatience));
        QVERIFY(search.results().rowCount() > 1);
        const int row = search.results().rowCount() - 1;
        const Prediction prediction
            = predict_with_evidence(plan_of(search.results().row(row).found, search.service().request()));
        QCOMPARE(w.valueAt(found, row, ResultsModel::throughput, Qt::Key_D), prediction.tps_per_gpu);
        QCOMPARE(w.valueAt(found, row, ResultsModel::memory, Qt::Key_D), prediction.memory_gib);
        QCOMPARE(w.valueAt(found, row, ResultsModel::mfu, Qt::Key_D), prediction.mfu);
        QCOMPARE(w.valueAt(found, row, ResultsModel::step_time, Qt::Key_D), prediction.step_time_s);
        QVERIFY(w.opened(found, row, ResultsModel::confidence, Qt::Key_D)->label.find("interval") != std::string::npos);
    }

    // D on a stored run: what was predicted of it.
    void storedRunsOpenTheirDerivation()
    {
        Fixture w;
        w.window.showPage(QStringLiteral("history"));
        QTest::keyClick(&w.window, Qt::Key_Shift); // else Qt takes the modifiers of an earlier test's last key for held
        QTableView& runs = w.table(view::kRunsTable);
        {
            const test::DialogWatch nothingAsked([](QMessageBox&) {});
            QVERIFY(!w.opened(runs, 0, 0, Qt::Key_D)); // there is no run yet
            QTest::qWait(50);
            QCOMPARE(nothingAsked.seen(), 0);
        }
        QVERIFY(
            w.window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
        const HistoryModel& model = w.window.historyPage().model();
        int looked = 0;
        for (int row = 0; row < model.rowCount() && looked < 2; ++row) {
            const RunSummary run = model.run(row);
            if (!run.predicted_tps_per_gpu || !run.predicted_memory_gib)
                continue;
            ++looked;
            // Rows of a table are stored without their operations: derived as of today.
            const Expected<RunDetail> stored = view::stored_run(Fixture::historyFile(), run.id);
            QVERIFY(stored);
            const Prediction today = predict_with_evidence(entryOf(*stored).prediction->plan);
            QVERIFY(today.tps_per_gpu && today.memory_gib);
            QCOMPARE(w.valueAt(runs, row, HistoryModel::name, Qt::Key_D), today.tps_per_gpu);
            QCOMPARE(w.valueAt(runs, row, HistoryModel::measured_tps, Qt::Key_D), today.tps_per_gpu);
            QCOMPARE(w.valueAt(runs, row, HistoryModel::measured_memory, Qt::Key_D), today.memory_gib);
        }
        QCOMPARE(looked, 2);
    }

    // Enter on a stage's bar is about that stage.
    void everyStageHasItsDerivation()
    {
        Fixture w;
        Expected<Plan> plan = read_plan(w.presets.file("plans", "llama-3.1-405b-torchtitan-512").value());
        w.document().reset(*std::move(plan));
        QVERIFY(w.answered());
        auto* bars = w.window.planPage().findChild<MemoryBars*>();
        for (int stage = 0; stage < 3; ++stage) {
            bars->setFocus();
            QTest::keyClick(bars, Qt::Key_Right);
            QTest::keyClick(bars, Qt::Key_Return);
            auto* dialog = w.window.findChild<DerivationDialog*>();
            QVERIFY(dialog);
            const StageMemory& memory = w.document().prediction()->memory_by_stage[static_cast<std::size_t>(stage)];
            QCOMPARE(fromUtf8(dialog->model().root().label), QStringLiteral("stage %1").arg(stage));
            QCOMPARE(dialog->model().root().value, std::optional(memory.total()));
            delete dialog;
        }
    }
};

int main(int argc, char** argv)
{
    return test::runTests<DerivationsTest>(argc, argv);
}

#include "derivations_test.moc"
