// SPDX-License-Identifier: GPL-3.0-or-later
// Where a number comes from, on every page that shows one.
#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/models/shared/text.h"
#include "app/view/tables/saved_views.h"
#include "tests/gui/support.h"

#include <QAbstractItemModelTester>
#include <QTableView>
#include <QTest>
#include <QTreeView>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
struct Fixture : test::WindowFixture {
    Fixture()
        : WindowFixture({}, {1440, 900})
    {
        open(QStringLiteral("derivations.plan.json"));
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
        // Opens it there by the key, and takes what it says.
        const auto opened = [&](QTableView& table, int row, int column, Qt::Key key) -> std::optional<Explanation> {
            table.setCurrentIndex(table.model()->index(row, column));
            table.setFocus();
            QTest::keyClick(&table, key);
            auto* dialog = w.window.findChild<DerivationDialog*>();
            if (!dialog)
                return {};
            const Explanation root = dialog->model().root();
            auto* tree = dialog->findChild<QTreeView*>();
            const QString marked = tree->currentIndex().siblingAtColumn(0).data().toString();
            delete dialog;
            const Explanation* part = explanationAt(root, marked);
            return part ? *part : root;
        };
        w.window.showPage(QStringLiteral("compare"));
        QTableView& compared = *w.window.findChild<QTableView*>(QString::fromLatin1(view::kComparedTable));
        CompareModel& model = w.window.comparePage().model();
        QTRY_COMPARE(model.entries().size(), std::size_t(1));
        const Prediction& prediction = *w.document().prediction();
        const auto valueOf = [&](const QString& figure) -> std::optional<double> { // the last of its name
            for (int row = model.rowCount() - 1; row >= 0; --row) {
                if (model.index(row, 0).data().toString() != figure)
                    continue;
                const std::optional<Explanation> explanation = opened(compared, row, 1, Qt::Key_Return);
                return explanation ? explanation->value : std::nullopt;
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
