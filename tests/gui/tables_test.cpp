// SPDX-License-Identifier: GPL-3.0-or-later
// Every picture of the window has a table behind it: each page is filled with what it is for, then every card on it is
// asked for its table, its name and its words.
#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/history/run_curves_view.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/runs/run_details.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/curves_chart.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/desktop/widgets/charts/rank_mesh_view.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/view/compare/published.h"
#include "core/calibration/user/table_runs.h"
#include "core/schedule/chrome_trace.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAccessible>
#include <QChartView>
#include <QComboBox>
#include <QDialog>
#include <QHeaderView>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTableView>

#include <set>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;

namespace {
const char* const kTable = FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv";

struct Fixture : test::WindowFixture {
    Fixture()
        : WindowFixture(FOURFOLD_BIN_DIR "/../tests/fake-trainer")
    {
    }
    std::set<std::string> kinds; // of cards that were asked

    // What is wrong with the cards of a page, hidden ones among them; empty when nothing is.
    QString faults(const QWidget& page)
    {
        QStringList wrong;
        for (Card* card : page.findChildren<Card*>()) {
            kinds.emplace(card->metaObject()->className());
            const QString who = QStringLiteral("%1 \"%2\": ")
                                    .arg(QString::fromLatin1(card->metaObject()->className()), card->title());
            const Table table = card->table();
            if (table.columns.empty() || table.rows.empty())
                wrong << who + QStringLiteral("no table");
            const bool square = std::all_of(table.rows.begin(), table.rows.end(),
                [&](const std::vector<Cell>& row) { return row.size() == table.columns.size(); });
            if (!square)
                wrong << who + QStringLiteral("rows that are not as long as the header");
            QAccessibleInterface* told = QAccessible::queryAccessibleInterface(card);
            if (!told || told->text(QAccessible::Name).isEmpty() || told->text(QAccessible::Description).isEmpty())
                wrong << who + QStringLiteral("no name or no description");
        }
        // Pictures that Qt draws lie on a card, which speaks for them.
        for (const QChartView* view : page.findChildren<QChartView*>()) {
            if (!qobject_cast<Card*>(view->parentWidget()))
                wrong << QStringLiteral("a chart that no card speaks for");
        }
        return wrong.join(QLatin1Char('\n'));
    }
};
} // namespace

class TablesTest : public QObject {
    Q_OBJECT
private slots:
    void everyCardGivesATableOfWhatItShows()
    {
        Fixture w;
        w.open(QStringLiteral("tables.plan.json"));
        QVERIFY(w.answered());
        PlanPage& plan = w.window.planPage();
        for (const char* picture : {"Over time", "Rank mesh", "Bounds", "Advice", "Timeline", "Per stage"}) {
            w.showPicture(QString::fromLatin1(picture));
            QTest::qWait(50); // pictures that wait to be on show
        }
        QVERIFY(QTest::qWaitFor([&] { return !plan.advice().isLooking(); }, kPatience));
        QString wrong = w.faults(plan);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));

        w.window.showPage(QStringLiteral("search"));
        QTest::mouseClick(w.child<QPushButton>("search"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !w.window.searchPage().service().isRunning(); }, kPatience));
        QTRY_VERIFY(w.child<QTableView>("results")->model()->rowCount() > 0);
        wrong = w.faults(w.window.searchPage());
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));

        w.window.showPage(QStringLiteral("compare"));
        ComparePage& compare = w.window.comparePage();
        const Expected<MeasuredTable> table = view::read_table(kTable, w.presets);
        QVERIFY(table.has_value());
        QTest::keyClick(&w.window, Qt::Key_D, Qt::ControlModifier); // a copy, for the second timeline
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("compare"));
        QTRY_COMPARE(compare.model().entries().size(), std::size_t(2));
        compare.addSeries(*table);
        QVERIFY(QTest::qWaitFor([&] { return compare.charts().scaling().seriesCount() >= 2; }, kPatience));
        compare.showView(ComparePage::View::sweep);
        QVERIFY(QTest::qWaitFor([&] { return !compare.sweep().map().table().rows.empty(); }, kPatience));
        wrong = w.faults(compare);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));

        w.window.showPage(QStringLiteral("history"));
        QVERIFY(
            w.window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
        std::vector<Json> steps; // published rows have no loss
        for (int step = 0; step < 3; ++step)
            steps.push_back({{"seq", step}, {"time", "2026-01-01T00:00:00.000Z"}, {"event", "step"}, {"step", step + 1},
                {"loss", 4.0 - step}, {"grad_norm", 1.0}, {"mfu", 0.3}, {"tps_per_gpu", 7000.0}, {"step_time_s", 70.0},
                {"memory_peak_gib", 50.0}});
        steps.push_back({{"seq", 3}, {"time", "2026-01-01T00:00:01.000Z"}, {"event", "error"}, {"rank", 1},
            {"host", "node1"}, {"message", "killed"}}); // nor a failure
        const QString run = test::Home::the().write(QStringLiteral("run.json"),
            QByteArray::fromStdString(
                measured_run(w.document().prediction()->plan, "lossy", "with losses", "fail", "", steps).dump()));
        QVERIFY(w.window.historyPage().importRun(run.toStdString()));
        w.window.historyPage().showView(HistoryPage::View::curves); // of the run that is selected, once they are read
        QTRY_VERIFY(!w.window.historyPage().curves().chart(view::CurveMetric::loss).table().rows.empty());
        wrong = w.faults(w.window.historyPage());
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));

        QVERIFY(w.open(QStringLiteral("tiny.plan.json"), test::tinyPlan(5, 5)));
        QVERIFY(w.answered());
        const Timeline step = w.document().prediction()->timeline;
        w.window.showPage(QStringLiteral("runs"));
        QTest::mouseClick(w.child<QPushButton>("start"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return w.window.liveRun().run().step() == 5; }, kPatience));
        QVERIFY(QTest::qWaitFor([&] { return !w.window.controller().isRunning(); }, kPatience));
        Json trace = chrome_trace(step, "test"); // the fake trainer measures no step
        trace["event"] = "trace";
        trace["step"] = 3;
        const Json loaded{{"event", "step"}, {"step", 6}, {"loss", 1.0}, {"step_time_s", 1.0},
            {"experts", {{"busiest", 1.5}, {"layer", 3}, {"idle", 2}}}}; // nor has it experts
        emit w.window.controller().eventsArrived({trace, loaded});
        QVERIFY(!w.window.liveRun().predictedTrace().has_value()); // it is predicted on a thread of its own
        QVERIFY(QTest::qWaitFor([&] { return w.window.liveRun().predictedTrace().has_value(); }, kPatience));
        QVERIFY2(w.window.runsPage().details().traceDifference().contains(QStringLiteral("An average stage: ")),
            qPrintable(w.window.runsPage().details().traceDifference()));
        SweepTable sweep;
        sweep.layouts = {GridLayout{}};
        sweep.gpus = {2};
        sweep.cells = {{std::nullopt}};
        w.window.runsPage().details().showSweep(sweep, {});
        wrong = w.faults(w.window.runsPage());
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));

        for (const char* kind : {"AdviceView", "BoundsView", "ComparisonChart", "CurvesChart", "ErrorScatter",
                 "FigureCard", "HeatMap", "LineChart", "MemoryBars", "MemoryOverTime", "ParetoScatter", "RankMeshView",
                 "StepSplit", "TimelineView"})
            QVERIFY2(w.kinds.count(std::string("fourfold::ui::") + kind) == 1, kind);
    }

    // Qt draws the mark over the second line of a heading.
    void theMarkOfTheSortedColumnLeavesTheHeadingAlone()
    {
        QStandardItemModel model(3, 2);
        model.setHorizontalHeaderLabels({QStringLiteral("Tokens/s\nper GPU"), QStringLiteral("Memory\nGiB")});
        for (int column = 0; column < 2; ++column)
            model.setHeaderData(column, Qt::Horizontal, int(Qt::AlignRight | Qt::AlignVCenter), Qt::TextAlignmentRole);
        DataTable table;
        table.setModel(&model);
        table.setSortingEnabled(true);
        table.setWidths({92, 92});
        table.resize(300, 200);
        table.show();
        QVERIFY(QTest::qWaitForWindowExposed(&table));
        QHeaderView* header = table.horizontalHeader();
        const auto heading = [&](int sorted, Qt::SortOrder order) {
            header->setSortIndicator(sorted, order);
            return header->grab(QRect(0, 0, header->sectionSize(0), header->height())).toImage();
        };
        const QImage plain = heading(1, Qt::AscendingOrder), up = heading(0, Qt::AscendingOrder),
                     down = heading(0, Qt::DescendingOrder);
        QVERIFY(up != plain && down != plain && up != down); // the mark is there and says the order
        int firstInk = plain.height(), lastMark = 0; // lines
        for (int y = 0; y < plain.height() - 1; ++y) { // the last one is the border
            for (int x = 0; x < plain.width() - 1; ++x) {
                if (plain.pixel(x, y) != plain.pixel(0, y))
                    firstInk = std::min(firstInk, y);
                if (plain.pixel(x, y) != up.pixel(x, y) || plain.pixel(x, y) != down.pixel(x, y))
                    lastMark = std::max(lastMark, y);
            }
        }
        QVERIFY2(lastMark < firstInk,
            qPrintable(QStringLiteral("mark to line %1, words from %2").arg(lastMark).arg(firstInk)));
    }

    // What is chosen in a picture is chosen in its table, what is chosen there in every picture of the page.
    void aTableAndItsPictureAreLinked()
    {
        Fixture w;
        Expected<Plan> plan = read_plan(w.presets.file("plans", "llama-3.1-405b-torchtitan-512").value());
        w.document().reset(*std::move(plan));
        QVERIFY(w.answered());
        auto* bars = w.window.planPage().findChild<MemoryBars*>();
        auto* mesh = w.window.planPage().findChild<RankMeshView*>();
        TimelineView& timeline = w.window.planPage().timeline();
        // Opens the table of the picture, says which rows are chosen in it, and chooses another one.
        const auto inTableOf = [](Card& card, int row) {
            QList<int> chosen;
            const test::WhenDialog<QDialog> when([&](QDialog& dialog) {
                auto* table = dialog.findChild<QTableView*>();
                for (const QModelIndex& index : table->selectionModel()->selectedRows())
                    chosen << index.row();
                if (row >= 0)
                    table->setCurrentIndex(table->model()->index(row, 0));
                dialog.reject();
            });
            showAsTable(card, card.window());
            return when.came() ? chosen : QList<int>{-1};
        };
        QCOMPARE(inTableOf(*bars, -1), QList<int>()); // looking at it chooses nothing
        QCOMPARE(bars->chosenRow(), -1);
        QCOMPARE(inTableOf(*bars, 3), QList<int>());
        QCOMPARE(bars->chosenRow(), 3);
        QCOMPARE(mesh->selectedStage(), 3);
        QCOMPARE(inTableOf(*bars, -1), QList<int>{3});
        // A bar of the timeline is a row of its table, and its stage is marked.
        timeline.setFocus();
        QTest::keyClick(&timeline, Qt::Key_Right);
        QTest::keyClick(&timeline, Qt::Key_Down);
        QVERIFY(timeline.selected() && timeline.selected()->row == 1);
        const Table spans = timeline.table();
        const auto stageOf = [&](int row) { return std::get<std::int64_t>(spans.rows[std::size_t(row)][0]); };
        const int at = timeline.chosenRow();
        QCOMPARE(stageOf(at), std::int64_t(1));
        QCOMPARE(std::get<double>(spans.rows[std::size_t(at)][4]), timeline.scene().bar(*timeline.selected()).start_s);
        const int last = static_cast<int>(timeline.scene().barCount()) - 1;
        QCOMPARE(inTableOf(timeline, last), QList<int>{at});
        QCOMPARE(timeline.chosenRow(), last);
        QCOMPARE(bars->chosenRow(), int(stageOf(last)));
        // So is a GPU of the mesh.
        QCOMPARE(inTableOf(*mesh, 77), QList<int>());
        QCOMPARE(mesh->current(), std::optional<int>(77));
        QCOMPARE(bars->chosenRow(), w.document().resolved()->layout.coordinates(77).pp);
        QCOMPARE(mesh->selectedStage(), bars->chosenRow());
    }

    // By the key, from whatever has the focus.
    void theKeyOpensTheTableOfWhatHasTheFocus()
    {
        Fixture w;
        w.open(QStringLiteral("tables.plan.json"));
        QVERIFY(w.answered());
        QString title;
        int rows = 0;
        QTimer watch;
        QObject::connect(&watch, &QTimer::timeout, [&] {
            auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
            if (!dialog || dialog->objectName() != QLatin1String("asTable"))
                return;
            title = dialog->windowTitle();
            rows = dialog->findChild<QTableView*>()->model()->rowCount();
            dialog->reject();
        });
        watch.start(20);
        FigureCard* throughput = w.window.planPage().figures()[1];
        throughput->setFocus();
        QTest::keyClick(throughput, Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(title, QStringLiteral("Throughput"));
        QCOMPARE(rows, 1);
        w.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&w.window));
        auto* model = w.window.planPage().findChild<QComboBox*>(QStringLiteral("model"));
        model->setFocus(); // no picture: the page's first one
        QTRY_VERIFY(model->hasFocus());
        QTest::keyClick(model, Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(title, QStringLiteral("Memory per stage"));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<TablesTest>(argc, argv);
}

#include "tables_test.moc"
