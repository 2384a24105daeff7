// SPDX-License-Identifier: GPL-3.0-or-later
// What a day's work with the window once stumbled over, each with the step that showed it.
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/cards/figure_strip.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/tables/table_header.h"
#include "app/models/search/results_model.h"
#include "app/view/runs/live_run.h"
#include "app/view/text.h"
#include "core/calibration/user/table_runs.h"
#include "core/schedule/chrome_trace.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QChartView>
#include <QDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QStatusBar>
#include <QStyle>
#include <QTableView>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
struct Fixture : test::WindowFixture {
    Fixture()
        : WindowFixture({}, {1440, 870}) // of a screen of 1440 x 900
    {
        open(QStringLiteral("mends.plan.json"));
        answered();
    }
    // A small part of the space.
    void search(const QString& where)
    {
        window.showPage(QStringLiteral("search"));
        child<QLineEdit>("constraint")->setText(where);
        test::click(*child<QPushButton>("search"));
        QVERIFY(QTest::qWaitFor([&] { return !window.searchPage().service().isRunning(); }, test::kPatience));
        QVERIFY(results().model()->rowCount() > 3);
    }
    QTableView& results() { return *child<QTableView>("results"); }
};

const char* const kTable = FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv";
const QString kSmall = QStringLiteral("pp == 1 and recompute == none and micro_batch <= 2");

// The texts at the left of a chart that are numbers: of its axis.
QStringList axisTexts(QWidget& chart, int right)
{
    QStringList texts;
    for (const test::DrawnText& drawn : test::drawnTexts(chart)) {
        bool number = false;
        QString(drawn.text).remove(QLatin1Char(',')).toDouble(&number);
        if (number && drawn.box.right() < right)
            texts << (drawn.cut || drawn.box.left() < 0 ? QStringLiteral("cut: ") + drawn.text : drawn.text);
    }
    return texts;
}
} // namespace

class MendsTest : public QObject {
    Q_OBJECT
private slots:
    void aNewSearchIsInTheOrderThatWasAskedFor()
    {
        Fixture w;
        w.search(kSmall);
        w.results().sortByColumn(ResultsModel::memory, Qt::DescendingOrder);
        w.search(kSmall + QStringLiteral(" and tp <= 8"));
        QCOMPARE(w.results().horizontalHeader()->sortIndicatorSection(), int(ResultsModel::place));
        QCOMPARE(w.results().horizontalHeader()->sortIndicatorOrder(), Qt::AscendingOrder);
        QCOMPARE(w.results().model()->index(0, ResultsModel::place).data().toString(), QStringLiteral("1"));
    }

    // Half the table was empty on a large screen, and columns kept the widths that they had without a row.
    void foundLayoutsFillTheTable()
    {
        Fixture w;
        w.search(kSmall);
        QTableView& table = w.results();
        QList<int> shown;
        for (int column = 0; column < ResultsModel::columns; ++column) {
            if (!table.isColumnHidden(column))
                shown << column;
        }
        QList<int> before;
        for (const int width : {1440, 1920, 2560}) {
            w.window.resize(width, 870);
            QTest::qWait(60);
            const int needs = table.fontMetrics().horizontalAdvance(QStringLiteral("⚠ extrapolated")) + 40;
            QVERIFY2(table.columnWidth(ResultsModel::confidence) < needs * 2,
                qPrintable(QStringLiteral("%1 of %2").arg(table.columnWidth(ResultsModel::confidence)).arg(width)));
            QVERIFY2(table.horizontalScrollBar()->maximum() == 0, qPrintable(QString::number(width)));
            QList<int> widths;
            for (const int column : shown) {
                widths << table.columnWidth(column);
                for (int row = 0; row < table.model()->rowCount(); ++row) {
                    const QModelIndex at = table.model()->index(row, column);
                    QVERIFY2(widths.back() > table.fontMetrics().horizontalAdvance(at.data().toString()),
                        qPrintable(QStringLiteral("%1 in row %2 at %3").arg(at.data().toString()).arg(row).arg(width)));
                }
            }
            for (int i = 1; i + 1 < before.size(); ++i)
                QVERIFY(widths[i] > before[i]);
            before = widths;
        }
    }

    // A search of a plan in the place of another one asked for the other one's GPUs.
    void theNumberOfGpusIsThePlansOwn()
    {
        test::WindowFixture w({}, {1440, 870});
        w.window.openStartPlan();
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("search"));
        const auto* gpus = w.child<QSpinBox>("searchGpus");
        QCOMPARE(gpus->value(), w.document().resolved()->gpus);
        QVERIFY(w.open(QStringLiteral("instead.plan.json")));
        QVERIFY(w.answered());
        QCOMPARE(w.window.plans().count(), 1); // nobody had touched the first one
        w.window.showPage(QStringLiteral("search"));
        QVERIFY(w.document().resolved()->gpus > 4);
        QCOMPARE(gpus->value(), w.document().resolved()->gpus);
        test::type(*w.child<QSpinBox>("searchGpus"), 32);
        w.window.showPage(QStringLiteral("plan"));
        w.window.showPage(QStringLiteral("search"));
        QCOMPARE(gpus->value(), 32);
    }

    // Letters at the edges of headings were cut off: "VPP" without its V.
    void headingsAreWhole()
    {
        Fixture w;
        w.search(kSmall);
        w.window.resize(1440, 870);
        QTest::qWait(60);
        const auto headings = [](QTableView& table) {
            QStringList cut;
            const QHeaderView& header = *table.horizontalHeader();
            QFont bold = header.font();
            bold.setWeight(QFont::DemiBold);
            for (int column = 0; column < header.count(); ++column) {
                const QString title = table.model()->headerData(column, Qt::Horizontal).toString();
                for (const QString& line : title.split(QLatin1Char('\n'))) {
                    // The style sheet's padding and line.
                    const int needs = line.isEmpty() ? 0 : QFontMetrics(bold).horizontalAdvance(line) + 2 * 8 + 1;
                    if (!header.isSectionHidden(column) && header.sectionSize(column) < needs)
                        cut << QStringLiteral("%1: %2 of %3").arg(line).arg(header.sectionSize(column)).arg(needs);
                }
            }
            return cut.join(QStringLiteral("; "));
        };
        QCOMPARE(headings(w.results()), QString());
        w.window.showPage(QStringLiteral("history"));
        QVERIFY(w.window.historyPage().importTable(kTable));
        QCOMPARE(headings(*w.child<QTableView>("history")), QString());
    }

    // Whether +10 % was faster or slower than predicted stood in the guide alone.
    void headingsSayWhatTheyHold()
    {
        Fixture w;
        w.search(kSmall);
        const auto about = [](const QTableView& table, int column) {
            return table.model()->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString();
        };
        for (const int column : {int(ResultsModel::pin), int(ResultsModel::virtual_stages),
                 int(ResultsModel::micro_batch), int(ResultsModel::against_plan), int(ResultsModel::confidence)})
            QVERIFY2(!about(w.results(), column).isEmpty(), qPrintable(QString::number(column)));
        const auto* runs = w.child<QTableView>("history");
        QVERIFY(about(*runs, HistoryModel::tps_error).contains(QStringLiteral("predicted faster")));
        QVERIFY(about(*runs, HistoryModel::gpus).isEmpty()); // it says so itself
        QMenu columns;
        static_cast<TableHeader*>(w.results().horizontalHeader())->addColumns(columns);
        for (const QAction* action : columns.actions())
            QVERIFY(!action->text().isEmpty());
    }

    // What an import left out stood for a moment in the status bar, and was cut there.
    void whatIsUsedOfAConfigCanBeRead()
    {
        Fixture w;
        auto* button = w.child<QPushButton>("modelConfig");
        QVERIFY(!button->isVisible()); // the model is a preset
        QVERIFY(w.window.importModel(test::Home::the()
                                         .write(QStringLiteral("config.json"),
                                             R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
            "num_hidden_layers": 12, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 32000,
            "rms_norm_eps": 1e-5, "max_position_embeddings": 4096, "my_own_key": true})")
                                         .toStdString()));
        QVERIFY(w.answered());
        QTRY_VERIFY(button->isVisible());
        QVERIFY2(button->text().contains(QStringLiteral("ignored")), qPrintable(button->text()));
        QString told;
        const test::WhenDialog<QDialog> look([&](QDialog& dialog) {
            told = dialog.findChild<QPlainTextEdit*>()->toPlainText();
            dialog.reject();
        });
        test::click(*button);
        QVERIFY(look.came());
        QVERIFY2(told.contains(QStringLiteral("my_own_key")) && told.contains(QStringLiteral("num_key_value_heads")),
            qPrintable(told));
    }

    void buttonsOfDialogsHaveNoPictures()
    {
        QCOMPARE(QApplication::style()->styleHint(QStyle::SH_DialogButtonBox_ButtonsHaveIcons), 0);
    }

    // Which run it is was cut away where columns beside it had room to spare.
    void runsAreReadByTheirNames()
    {
        Fixture w;
        w.window.showPage(QStringLiteral("history"));
        QVERIFY(w.window.historyPage().importTable(kTable));
        QTest::qWait(60);
        const auto* table = w.child<QTableView>("history");
        QCOMPARE(table->horizontalScrollBar()->maximum(), 0); // at 1440, where the longest names lose some letters
        w.window.resize(1540, 870);
        QTest::qWait(60);
        for (const int column : {int(HistoryModel::name), int(HistoryModel::model), int(HistoryModel::layout)}) {
            for (int row = 0; row < table->model()->rowCount(); ++row) {
                const QString text = table->model()->index(row, column).data().toString();
                QVERIFY2(table->columnWidth(column) > table->fontMetrics().horizontalAdvance(text) + 8,
                    qPrintable(QStringLiteral("%1 in %2").arg(text).arg(table->columnWidth(column))));
            }
        }
        QCOMPARE(table->horizontalScrollBar()->maximum(), 0);
    }

    // A traced run fills "Most off", whose words are as long as names.
    void runsAreReadByTheirNamesBesideWhatIsMostOff()
    {
        Fixture w;
        w.window.showPage(QStringLiteral("history"));
        QVERIFY(w.window.historyPage().importTable(kTable));
        const ResolvedPlan& plan = w.document().prediction()->plan;
        Timeline measured = predict(plan).timeline;
        for (Span& span : measured.spans) {
            if (span.kind == SpanKind::parameter_gather)
                span.end_s += 12.3;
        }
        measured.spans.push_back({0, SpanKind::parameter_gather, -1, 0, measured.length_s, measured.length_s + 12.3});
        measured.length_s += 12.3;
        Json trace = chrome_trace(measured, "test");
        trace.update({{"event", "trace"}, {"seq", 0}});
        const QString file = test::Home::the().write(QStringLiteral("most_off.json"),
            QByteArray::fromStdString(
                measured_run(plan, "traced", "a run of our own with a long name", "ok", "", {trace}).dump()));
        QVERIFY(w.window.historyPage().importRun(file.toStdString()));
        const auto* table = w.child<QTableView>("history");
        const auto text = [&](int row, int column) { return table->model()->index(row, column).data().toString(); };
        QTRY_VERIFY_WITH_TIMEOUT(
            text(table->currentIndex().row(), HistoryModel::most_off).startsWith(QStringLiteral("parameter gather +")),
            test::kPatience);
        const auto room = [&](int column) { return table->columnWidth(column) - 8; };
        for (const int width : {1440, 1920, 2560}) {
            w.window.resize(width, 870);
            QTest::qWait(60);
            QCOMPARE(table->horizontalScrollBar()->maximum(), 0);
            for (int row = 0; row < table->model()->rowCount(); ++row) {
                const QString name = text(row, HistoryModel::name);
                if (width == 1440) { // its beginning, and the end that tells it from the others
                    const QString seen
                        = table->fontMetrics().elidedText(name, Qt::ElideMiddle, room(HistoryModel::name));
                    QVERIFY2(seen.startsWith(name.left(8)) && seen.endsWith(name.right(9)), qPrintable(seen));
                    continue;
                }
                for (const int column : {int(HistoryModel::name), int(HistoryModel::model), int(HistoryModel::layout),
                         int(HistoryModel::most_off), int(HistoryModel::created)})
                    QVERIFY2(room(column) >= table->fontMetrics().horizontalAdvance(text(row, column)),
                        qPrintable(QStringLiteral("%1 at %2: %3").arg(text(row, column)).arg(width).arg(room(column))));
            }
        }
    }

    // What was measured nearest stood in a tool tip alone.
    void theNearestMeasurementStandsBesideTheAnswer()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("near.plan.json"),
            test::readFile(
                QStringLiteral(FOURFOLD_SOURCE_DIR "/presets/plans/llama-3.1-405b-torchtitan-512.plan.json"))));
        QVERIFY(w.answered());
        QStringList shown;
        for (const QLabel* label : w.window.statusBar()->findChildren<QLabel*>())
            shown << label->text();
        QVERIFY2(shown.join(QLatin1Char(' ')).contains(QStringLiteral("; nearest: torchtitan-2024-12")),
            qPrintable(shown.join(QLatin1Char(' '))));
        w.window.showPage(QStringLiteral("compare"));
        const CompareModel& model = w.window.comparePage().model();
        QTRY_COMPARE(model.entries().size(), std::size_t(2));
        QStringList figures;
        for (int at = 0; at < model.rowCount(); ++at)
            figures << model.index(at, 0).data().toString() + QLatin1Char(' ') + model.index(at, 2).data().toString();
        QVERIFY(figures.join(QLatin1Char('\n')).contains(QStringLiteral("Nearest measured torchtitan-2024-12")));
    }

    // Beside an empty half of a large screen it was cut.
    void aWarningIsReadWhereThereIsRoom()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("warned.plan.json"),
            test::readFile(
                QStringLiteral(FOURFOLD_SOURCE_DIR "/presets/plans/llama-3.1-405b-torchtitan-512.plan.json"))));
        QVERIFY(w.answered());
        w.window.resize(2560, 1400);
        w.window.showPage(QStringLiteral("compare"));
        const CompareModel& model = w.window.comparePage().model();
        QTRY_COMPARE(model.entries().size(), std::size_t(2));
        auto* table = w.child<QTableView>("comparison");
        QVERIFY(table);
        QString first; // of its warnings, which stand behind each other in one line
        for (int row = 0; row < model.rowCount(); ++row) {
            const QString text = model.index(row, 2).data().toString();
            if (text.startsWith(QStringLiteral("Warning: ")))
                first = text.left(text.indexOf(QStringLiteral("Warning: "), 1));
        }
        QVERIFY(first.size() > 60 && !first.contains(QLatin1Char('\n')));
        QTRY_VERIFY(table->columnWidth(2) > table->fontMetrics().horizontalAdvance(first));
        w.window.resize(1440, 870); // each has its share
        QTRY_VERIFY(table->columnWidth(1) + table->columnWidth(2) < 1200);
    }

    void layoutsStandBesideThePlanThatWasSearchedFrom()
    {
        Fixture w;
        w.search(kSmall);
        const auto told = [&] { return w.results().model()->index(0, ResultsModel::against_plan).data().toString(); };
        const QString unknown = QString::fromUtf8(view::kUnknown), before = told();
        QVERIFY2(before.contains(QLatin1Char('%')) || before == QLatin1String("as the plan"), qPrintable(before));

        // Another plan on show changes nothing: the rows do not answer it.
        QVERIFY(w.open(QStringLiteral("other.plan.json"), test::tinyPlan(5, 5)));
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("search"));
        QCOMPARE(told(), before);

        const auto edit = [&w](const char* path, int value) {
            w.document().setValue(path, value, QStringLiteral("edit"));
            QVERIFY(w.answered());
        };
        w.window.plans().setCurrent(0);
        edit("training.seq_len", 4096); // asks something else
        QTRY_COMPARE(told(), unknown);
        w.document().undoStack().undo();
        QVERIFY(w.answered());
        QTRY_COMPARE(told(), before);
        edit("training.micro_batch", 64);
        QVERIFY(!w.document().prediction()->feasible); // does not fit
        QTRY_COMPARE(told(), unknown);
        w.document().undoStack().undo();
        QVERIFY(w.answered());
        QTRY_COMPARE(told(), before);
        w.window.plans().close(0); // is gone
        QTRY_COMPARE(told(), unknown);
    }

    // How far a run is from its prediction was cut before the predicted figure.
    void aRunsFiguresAreWholeBesideTheirPrediction()
    {
        view::LiveRun run;
        run.begin("Llama", 200, {.tps_per_gpu = 12'345, .step_time_s = 1, .memory_gib = 70.1, .mfu = 0.4});
        run.take(Json{{"event", "step"}, {"step", 5}, {"loss", 2.5}, {"tps_per_gpu", 8'203.0}, {"step_time_s", 1.5},
            {"memory_gib", 68.9}});
        FigureStrip strip;
        strip.resize(1440 - 340 - 24, 112); // beside the form of a window of 1440 pixels
        strip.showFigures(run.figures());
        strip.show();
        QTest::qWait(30);
        QStringList told;
        for (FigureCard* card : strip.cards()) {
            for (const test::DrawnText& drawn : test::drawnTexts(*card))
                told << drawn.text;
        }
        const QString all = told.join(QLatin1Char('|'));
        QVERIFY2(all.contains(QStringLiteral("-33.6 % vs. predicted 12,345")), qPrintable(all));
        QVERIFY2(!all.contains(QChar(0x2026)), qPrintable(all));
    }

    void axesKeepTheirLeadingDigit()
    {
        LineChart lines(QStringLiteral("Throughput"), {}, &Theme::accent);
        lines.setPoints({{1, 11'234}, {2, 8'765}, {3, 14'321}});
        ComparisonChart bars(QStringLiteral("Throughput"), QString());
        bars.showBars({QStringLiteral("one"), QStringLiteral("two")},
            {{QStringLiteral("Predicted"), &Theme::forward, Card::Fill::solid, {12'345, 8'765}}}, false,
            QStringLiteral("tokens/s"));
        for (Card* chart : {static_cast<Card*>(&lines), static_cast<Card*>(&bars)}) {
            chart->resize(460, 300);
            chart->show();
            QTest::qWait(50);
            QStringList texts = axisTexts(*chart, 100);
            for (auto* view : chart->findChildren<QChartView*>())
                texts += axisTexts(*view->viewport(), 100);
            const QString all = texts.join(QLatin1Char(' '));
            QVERIFY2(!all.contains(QStringLiteral("cut")), qPrintable(all));
            QVERIFY2(all.contains(QStringLiteral("10,000")) || all.contains(QStringLiteral("10000")), qPrintable(all));
        }
    }
};

int main(int argc, char** argv)
{
    return test::runTests<MendsTest>(argc, argv);
}

#include "mends_test.moc"
