// SPDX-License-Identifier: GPL-3.0-or-later
// The history as a user has it: tags, notes, deleting and undoing, the scatter, importing a table, recalibrating.
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/compare_timelines.h"
#include "app/desktop/pages/history/history_detail.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/history/recalibrate_dialog.h"
#include "app/desktop/widgets/charts/error_scatter.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/tables/filter_bar.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/view/history/history_access.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/store.h"
#include "core/predict/prediction.h"
#include "core/schedule/chrome_trace.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;

namespace {
const char* const kTable = FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv";

// The history of one test: the rows of a published table, imported by the page itself.
struct Fixture : test::WindowFixture {
    Fixture()
    {
        QFile::remove(QString::fromStdString(historyFile().string()));
        window.showPage(QStringLiteral("history"));
        // Else Qt takes the modifiers of the last key of an earlier test for held, and a selection toggles.
        QTest::keyClick(&window, Qt::Key_Shift);
        imported = page().importTable(kTable);
    }
    HistoryPage& page() { return window.historyPage(); }
    QTableView* table() { return child<QTableView>("history"); }
    [[nodiscard]] QString id(int row) { return table()->model()->index(row, 0).data(HistoryModel::IdRole).toString(); }
    bool imported = false;
};
} // namespace

class HistoryTest : public QObject {
    Q_OBJECT
private slots:
    void aTableBecomesRunsOnce()
    {
        Fixture w;
        QVERIFY(w.imported);
        const int runs = w.page().model().rowCount();
        QVERIFY(runs >= 10);
        QSignalSpy said(&w.page(), &HistoryPage::message);
        QVERIFY(w.page().importTable(kTable));
        QCOMPARE(w.page().model().rowCount(), runs);
        QVERIFY2(said.last().at(0).toString().startsWith(QStringLiteral("0 runs added")),
            qPrintable(said.last().at(0).toString()));
        // The tables that come with the program are in the menu.
        const QString shipped = QStringLiteral("llama31_8b_4d_a100_h100");
        QVERIFY(test::clickMenu(*w.child<QPushButton>("importRuns"), {QStringLiteral("Published table"), shipped}));
        QTRY_VERIFY_WITH_TIMEOUT(w.page().model().rowCount() > runs, kPatience);
        int told = 0;
        test::DialogWatch watch([&](QMessageBox&) { ++told; });
        QVERIFY(!w.page().importTable(test::Home::the().write(QStringLiteral("bad.csv"), "a,b\n1,2\n").toStdString()));
        QCOMPARE(told, 1);
    }

    void tagsAndNotesAreKeptFilteredAndUndone()
    {
        Fixture w;
        w.table()->selectRow(0);
        const QString id = w.id(0);
        auto* tags = w.child<QLineEdit>("runTags");
        tags->setFocus();
        QTest::keyClicks(tags, QStringLiteral("paper, slow,paper"));
        QTest::keyClick(tags, Qt::Key_Return);
        QCOMPARE(view::stored_run(w.historyFile(), id.toStdString())->summary.tags,
            (std::vector<std::string>{"paper", "slow"}));
        auto* note = w.child<QPlainTextEdit>("runNote");
        note->setFocus();
        QTest::keyClicks(note, QStringLiteral("best of three"));
        w.table()->setFocus();
        QCOMPARE(view::stored_run(w.historyFile(), id.toStdString())->summary.note, std::string("best of three"));

        w.page().focusFilter();
        auto* words = qobject_cast<QLineEdit*>(w.window.focusWidget());
        QVERIFY(words);
        QTest::keyClicks(words, QStringLiteral("PAPER"));
        QCOMPARE(w.page().model().rowCount(), 1);
        words->clear();

        QTest::keyClick(&w.window, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(view::stored_run(w.historyFile(), id.toStdString())->summary.note, std::string());
        QTest::keyClick(&w.window, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(view::stored_run(w.historyFile(), id.toStdString())->summary.tags.empty());
        QTest::keyClick(&w.window, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(view::stored_run(w.historyFile(), id.toStdString())->summary.tags.size(), std::size_t(2));
    }

    // The same text as `fourfold history list --filter` takes; what is no expression leaves the table as it is.
    void expressionsFilter()
    {
        Fixture w;
        auto* filter = w.child<QLineEdit>("historyFilter");
        const HistoryModel& model = w.page().model();
        const int all = model.rowCount();
        filter->setText(QStringLiteral("gpus > 200 and model == \"Llama 3.1 405B\""));
        QVERIFY(model.rowCount() > 0 && model.rowCount() < all);
        for (int row = 0; row < model.rowCount(); ++row) {
            QVERIFY(model.run(row).gpus > 200);
            QCOMPARE(model.index(row, HistoryModel::model).data().toString(), QStringLiteral("Llama 3.1 405B"));
        }
        const int some = model.rowCount();
        w.page().refresh(); // the filter stays
        QCOMPARE(model.rowCount(), some);
        filter->setText(QStringLiteral("gpuz > 200"));
        QCOMPARE(model.rowCount(), some);
        auto* bar = w.page().findChild<FilterBar*>();
        QVERIFY2(bar->problem().contains(QStringLiteral("did you mean")), qPrintable(bar->problem()));
        filter->setText(QStringLiteral("405b 512"));
        QVERIFY(bar->problem().isEmpty());
        QVERIFY(model.rowCount() > 0 && model.rowCount() < all);
        filter->setText(QStringLiteral("steps > 1000000"));
        QCOMPARE(model.rowCount(), 0);
        QVERIFY(w.child<QPushButton>("emptyHistory")->isVisible());
        QTest::mouseClick(w.child<QPushButton>("emptyHistory"), Qt::LeftButton);
        QCOMPARE(model.rowCount(), all);
        QVERIFY(!w.child<QPushButton>("emptyHistory")->isVisible());
    }

    // Where one was stays where one is: the point of the chosen run while the table is sorted, the place of a deleted
    // row, all of several chosen runs.
    void theSelectionStays()
    {
        Fixture w;
        ErrorScatter& scatter = w.page().detail().scatter();
        w.table()->selectRow(2);
        const QString id = w.id(2);
        QCOMPARE(scatter.selected(), 2);
        w.table()->sortByColumn(HistoryModel::measured_tps, Qt::DescendingOrder);
        const int row = w.page().model().rowOf(id);
        QCOMPARE(w.table()->currentIndex().row(), row);
        QCOMPARE(scatter.selected(), row);

        w.table()->selectRow(3);
        const QString gone = w.id(3), next = w.id(4);
        w.page().deleteChosen();
        QCOMPARE(w.table()->currentIndex().row(), 3);
        QCOMPARE(w.id(3), next);
        w.page().undoStack().undo();
        QCOMPARE(w.id(w.table()->currentIndex().row()), gone);

        w.table()->selectAll();
        const auto chosen = [&] { return w.table()->selectionModel()->selectedRows().size(); };
        const qsizetype all = chosen();
        w.page().refresh();
        QCOMPARE(chosen(), all);
        w.page().deleteChosen();
        w.page().undoStack().undo();
        QCOMPARE(chosen(), all);
    }

    // What a wide window has to spare goes to the names, until somebody sets a width.
    void wideTablesShowWhatWasCut()
    {
        Fixture w;
        const auto width = [&](int column) { return w.table()->columnWidth(column); };
        const int before = width(HistoryModel::name), number = width(HistoryModel::gpus);
        w.window.resize(w.window.width() + 600, w.window.height());
        QTRY_VERIFY(width(HistoryModel::name) > before + 30);
        QCOMPARE(width(HistoryModel::gpus), number);
        w.table()->setColumnWidth(HistoryModel::name, 77);
        w.window.resize(w.window.width() + 60, w.window.height());
        QTest::qWait(20);
        QCOMPARE(width(HistoryModel::name), 77);
        // The key that shows the page holds Ctrl down: the run is chosen all the same.
        w.window.showPage(QStringLiteral("plan"));
        QTest::keyClick(&w.window, Qt::Key_5, Qt::ControlModifier);
        QCOMPARE(w.table()->selectionModel()->selectedRows().size(), 1);
    }

    // Rows of a table that are left out are told, each; the window answers while the others are predicted.
    void aTableIsReadBesideTheWindow()
    {
        Fixture w;
        QByteArray table = test::readFile(QString::fromLatin1(kTable));
        table.replace(
            ",4096,32,8,14336,1,128256,,H100-96GB-HBM2e-500W,8,8,1,1,1,8,1,1,,2,16,parameters,selective,bf16,0",
            ",4096,many,8,14336,1,128256,,H100-96GB-HBM2e-500W,8,8,1,1,1,8,1,1,,2,16,parameters,selective,bf16,0");
        const QString file = test::Home::the().write(QStringLiteral("damaged.csv"), table);
        QSignalSpy said(&w.page(), &HistoryPage::message);
        QString told;
        const test::WhenDialog<QDialog> look([&](QDialog& dialog) {
            told = dialog.findChild<QPlainTextEdit*>()->toPlainText();
            dialog.reject();
        });
        w.page().readTable(file.toStdString());
        QVERIFY(!w.child<QPushButton>("importRuns")->isEnabled()); // one at a time
        QTRY_VERIFY_WITH_TIMEOUT(w.child<QPushButton>("importRuns")->isEnabled(), kPatience);
        QTRY_VERIFY(!told.isEmpty());
        QVERIFY2(told.contains(QStringLiteral("heads: found \"many\"")), qPrintable(told));
    }

    // A run of many steps is read beside the window, and only if it is still the selected one.
    void aLongRunComesWhenItIsRead()
    {
        Fixture w;
        constexpr int steps = 5000, kShort = 100; // points of a curve, which is thinned
        const auto known = view::stored_run(w.historyFile(), w.id(0).toStdString());
        QVERIFY(known);
        {
            auto store = HistoryStore::open(w.historyFile());
            QVERIFY(store);
            NewRun run{"01ZZZZZZZZZZZZZZZZZZZZZZZZ", "long", "local", "fourfold", "h", "l", known->plan,
                known->prediction, {}, {}, Json::object()};
            QVERIFY(store->create_run(run));
            std::vector<std::string> lines;
            for (int i = 0; i < steps; ++i)
                lines.push_back(R"({"seq":)" + std::to_string(i)
                    + R"(,"time":"2026-01-01T00:00:00.000Z","rank":0,"event":"step","tps_per_gpu":7.0,"step":)"
                    + std::to_string(i + 1) + "}");
            QVERIFY(store->append_events(run.id, "events", lines));
        }
        w.page().refresh();
        const auto longest = [&] {
            qsizetype points = 0;
            for (const LineChart* chart : w.page().detail().findChildren<LineChart*>())
                points = std::max(points, qsizetype(chart->pointCount()));
            return int(points);
        };
        const int row = w.page().model().rowOf(QStringLiteral("01ZZZZZZZZZZZZZZZZZZZZZZZZ"));
        QVERIFY(row >= 0);
        w.table()->selectRow(row);
        QTRY_VERIFY_WITH_TIMEOUT(longest() > kShort, kPatience);
        const int other = row == 0 ? 1 : 0;
        w.table()->selectRow(other);
        w.table()->selectRow(row);
        w.table()->selectRow(other); // before it was read again
        QTest::qWait(300);
        QVERIFY(longest() < kShort);
    }

    void aTagThatIsNoneIsRefused()
    {
        Fixture w;
        w.table()->selectRow(0);
        const QString id = w.id(0);
        int told = 0;
        test::DialogWatch watch([&](QMessageBox&) { ++told; });
        emit w.page().detail().tagsEdited({std::string(70, 'x')});
        QCOMPARE(told, 1);
        QVERIFY(view::stored_run(w.historyFile(), id.toStdString())->summary.tags.empty());
        QVERIFY(!w.page().undoStack().canUndo()); // nothing was done
    }

    // A stored trace is compared with its plan's prediction after the table is there; the column follows by itself.
    void theTermMostOffIsNamedForEveryTracedRun()
    {
        Fixture w;
        const auto plan = resolve(*parse_plan(test::clusterPlan().toStdString(), "test"), w.presets);
        QVERIFY(plan.has_value());
        Timeline measured = predict(*plan).timeline;
        const double longer = measured.length_s / 4;
        measured.spans.push_back({0, SpanKind::optimizer, -1, 0, measured.length_s, measured.length_s + longer});
        measured.length_s += longer;
        Json trace = chrome_trace(measured, "test");
        trace["event"] = "trace";
        trace["seq"] = 0;
        const QString file = test::Home::the().write(QStringLiteral("traced.json"),
            QByteArray::fromStdString(measured_run(*plan, "traced", "traced run", "ok", "", {trace}).dump()));
        QVERIFY(w.page().importRun(file.toStdString()));
        const QAbstractItemModel& model = *w.table()->model();
        const auto term = [&] {
            const int row = w.table()->currentIndex().row();
            return model.index(row, HistoryModel::most_off).data().toString();
        };
        QTRY_VERIFY_WITH_TIMEOUT(term().startsWith(QStringLiteral("optimizer +")), kPatience);
        QVERIFY(view::stored_runs(w.historyFile(), 1)->front().most_off.has_value());
        w.table()->sortByColumn(HistoryModel::most_off, Qt::AscendingOrder);
        QVERIFY(model.index(0, HistoryModel::most_off).data().toString().startsWith(QStringLiteral("optimizer")));

        // Beside its prediction, on one axis and with what differs.
        w.table()->selectRow(0);
        w.table()->setFocus();
        QTest::keyClick(w.table(), Qt::Key_C);
        QCOMPARE(w.window.page(), QStringLiteral("compare"));
        ComparePage& compare = w.window.comparePage();
        compare.showView(ComparePage::View::timelines);
        const CompareTimelines& timelines = compare.timelines();
        QCOMPARE(timelines.views()[0]->scene().length(), predict(*plan).timeline.length_s);
        QCOMPARE(timelines.views()[1]->scene().length(), measured.length_s);
        QCOMPARE(timelines.views()[0]->window().length(), measured.length_s);
        QVERIFY2(timelines.difference().contains(QStringLiteral("An average stage: optimizer ")),
            qPrintable(timelines.difference()));
    }

    void deletingIsUndone()
    {
        Fixture w;
        const int before = w.page().model().rowCount();
        w.table()->selectRow(1);
        w.table()->setFocus();
        QTRY_VERIFY(w.table()->hasFocus());
        const QString id = w.id(1);
        QTest::keyClick(w.table(), Qt::Key_Delete);
        QCOMPARE(w.page().model().rowCount(), before - 1);
        QCOMPARE(w.page().model().rowOf(id), -1);
        QTest::keyClick(&w.window, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(w.page().model().rowCount(), before);
        w.table()->selectAll();
        QTest::mouseClick(w.child<QPushButton>("deleteRuns"), Qt::LeftButton);
        QCOMPARE(w.page().model().rowCount(), 0);
        QVERIFY(!w.child<QPushButton>("deleteRuns")->isEnabled());
        w.page().undoStack().undo();
        QCOMPARE(w.page().model().rowCount(), before);
        // In another mode undo is the plan's.
        w.window.showPage(QStringLiteral("plan"));
        QVERIFY(!w.window.plans().undoGroup().canUndo());
    }

    void theScatterAndTheTableAreLinked()
    {
        Fixture w;
        ErrorScatter& scatter = w.page().detail().scatter();
        const QAbstractItemModelTester tester(
            w.table()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        const Table table = scatter.table();
        QVERIFY(table.rows.size() >= 5);
        int row = -1;
        for (int i = 0; i < w.page().model().rowCount() && row < 0; ++i) {
            if (i != w.table()->currentIndex().row() && scatter.placeOf(i))
                row = i;
        }
        QVERIFY(row >= 0);
        const QPoint place = scatter.placeOf(row)->toPoint();
        const int nearest = scatter.rowAt(place); // several may share a place
        QTest::mouseClick(&scatter, Qt::LeftButton, {}, place);
        QCOMPARE(w.table()->currentIndex().row(), nearest);
        scatter.setFocus();
        const QImage before = scatter.grab().toImage();
        QTest::keyClick(&scatter, Qt::Key_Right);
        QVERIFY(w.table()->currentIndex().row() != nearest || scatter.grab().toImage() == before);
    }

    void recalibratingShowsWhatWouldChangeBeforeItSaves()
    {
        Fixture w;
        w.table()->selectAll();
        QSignalSpy saved(&w.page(), &HistoryPage::calibrationSaved);
        QString summary;
        int runs = 0, constants = 0;
        bool savedEarly = true;
        QTimer watch;
        QObject::connect(&watch, &QTimer::timeout, [&] {
            auto* dialog = qobject_cast<RecalibrateDialog*>(QApplication::activeModalWidget());
            if (!dialog || !dialog->recalibration().has_result())
                return;
            watch.stop();
            savedEarly = saved.count() > 0;
            summary = dialog->findChild<QLabel*>(QStringLiteral("recalibrateSummary"))->text();
            runs = int(dialog->recalibration().runs_table().rows.size());
            constants = int(dialog->recalibration().constants_table().rows.size());
            auto* id = dialog->findChild<QLineEdit*>(QStringLiteral("recalibrateId"));
            id->setText(QStringLiteral("mine"));
            QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("recalibrateSave")), Qt::LeftButton);
        });
        watch.start(50);
        QTest::mouseClick(w.child<QPushButton>("recalibrateRuns"), Qt::LeftButton);
        QVERIFY(!savedEarly);
        QVERIFY2(summary.contains(QStringLiteral("mean error")), qPrintable(summary));
        QVERIFY(runs >= 5);
        QVERIFY(constants >= 1);
        QCOMPARE(saved.count(), 1);
        QVERIFY(std::filesystem::exists(saved.first().at(1).toString().toStdString()));
        QVERIFY(w.window.banner().isVisible());
        QVERIFY(w.presets.stack("mine").has_value());
    }
};

int main(int argc, char** argv)
{
    return test::runTests<HistoryTest>(argc, argv);
}

#include "history_test.moc"
