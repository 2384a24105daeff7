// SPDX-License-Identifier: GPL-3.0-or-later
// Item models hold to Qt's rules; view state does what its header says.
#include "app/models/compare/compare_model.h"
#include "app/models/history/facts_model.h"
#include "app/models/history/history_model.h"
#include "app/models/plan/plan_document.h"
#include "app/models/plan/preset_model.h"
#include "app/models/runs/live_run.h"
#include "app/models/shared/text.h"
#include "app/view/answer.h"
#include "app/view/plan/edits.h"
#include "app/view/runs/series.h"
#include "core/plan/fields.h"
#include "core/report/views/runs_table.h"
#include "tests/gui/support.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

Prediction predicted(const QByteArray& text)
{
    const Expected<Plan> plan = parse_plan(text.toStdString(), "test");
    if (!plan)
        qFatal("%s", plan.error().line().c_str());
    const Expected<ResolvedPlan> resolved = resolve(*plan, Presets());
    if (!resolved)
        qFatal("%s", resolved.error().line().c_str());
    return predict(*resolved);
}

RunSummary run(const char* id, const char* name, std::optional<double> measured, RunState state = RunState::ok)
{
    RunSummary summary;
    summary.id = id;
    summary.name = name;
    summary.state = state;
    summary.created = std::string("2026-01-0") + id[0] + "T00:00:00.000Z";
    summary.measured_tps_per_gpu = measured;
    summary.predicted_tps_per_gpu = 100;
    if (measured)
        summary.tps_error = 100 / *measured - 1;
    return summary;
}
} // namespace

class ModelsTest : public QObject {
    Q_OBJECT
private slots:
    // An open plan is not compared while it is predicted anew: the others move up, and back.
    void aReferenceIsAnEntryAndNoPlace()
    {
        CompareModel model;
        const auto show = [&](const QStringList& ids) {
            std::vector<CompareEntry> entries;
            for (const QString& id : ids)
                entries.push_back({.id = id, .name = id});
            model.show(std::move(entries));
        };
        const QString a = QStringLiteral("a"), b = QStringLiteral("b"), c = QStringLiteral("c");
        show({a, b, c});
        model.setReference(1);
        show({b, c});
        QCOMPARE(model.reference(), 0);
        show({a, c});
        QCOMPARE(model.reference(), 0);
        show({c, a, b});
        QCOMPARE(model.reference(), 2);
        model.setReference(0);
        show({a, c});
        QCOMPARE(model.reference(), 0);
    }

    void textHasUnitsAndGrouping()
    {
        QCOMPARE(grouped(12345.6, 1), QStringLiteral("12,345.6"));
        QCOMPARE(duration(69.04), QStringLiteral("69.0 s"));
        QCOMPARE(duration(0.0123), QStringLiteral("12.3 ms"));
        QCOMPARE(duration(4.5e-4), QStringLiteral("450 \u00b5s"));
        QCOMPARE(compact(8388608), QStringLiteral("8.39 M"));
        QCOMPARE(compact(70.56e9), QStringLiteral("70.6 B"));
        QCOMPARE(signedPercent(-0.0312), QStringLiteral("-3.1 %"));
        QCOMPARE(signedPercent(-0.0003), QStringLiteral("0.0 %"));
        QCOMPARE(signedPercent(0.0003), QStringLiteral("0.0 %"));
        QCOMPARE(counted(1, QStringLiteral("GPU")), QStringLiteral("1 GPU"));
        QCOMPARE(counted(1024, QStringLiteral("GPU")), QStringLiteral("1,024 GPUs"));
    }

    void presetsCarryIdsAndACustomRow()
    {
        const Presets presets;
        PresetModel model(presets, PresetModel::Kind::models);
        QAbstractItemModelTester tester(&model, kFatal);
        const int llama = model.rowOf(QStringLiteral("llama-3.1-8b"));
        QVERIFY(llama >= 0);
        QCOMPARE(model.index(llama).data().toString(), QStringLiteral("Llama 3.1 8B"));
        const int before = model.rowCount();
        model.setCustom(QStringLiteral("Own: tiny"));
        QCOMPARE(model.rowCount(), before + 1);
        QCOMPARE(model.rowOf(QString()), 0);
        model.setCustom(QStringLiteral("Own: other"));
        QCOMPARE(model.index(0).data().toString(), QStringLiteral("Own: other"));
        model.setCustom({});
        QCOMPARE(model.rowCount(), before);
        QCOMPARE(model.rowOf(QString()), -1);
    }

    void historySortsAndFilters()
    {
        HistoryModel model;
        QAbstractItemModelTester tester(&model, kFatal);
        model.show({run("3", "alpha", 90.0), run("2", "beta", std::nullopt, RunState::fail), run("1", "gamma", 110.0)});
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.index(0, HistoryModel::name).data().toString(), QStringLiteral("alpha")); // newest first
        model.sort(HistoryModel::measured_tps, Qt::AscendingOrder);
        QCOMPARE(model.index(0, HistoryModel::name).data().toString(), QStringLiteral("alpha"));
        QCOMPARE(model.index(2, HistoryModel::name).data().toString(), QStringLiteral("beta"));
        model.sort(HistoryModel::measured_tps, Qt::DescendingOrder);
        QCOMPARE(model.index(0, HistoryModel::name).data().toString(), QStringLiteral("gamma"));
        QCOMPARE(model.index(2, HistoryModel::name).data().toString(), QStringLiteral("beta")); // unknown stays last
        const QPersistentModelIndex kept(model.index(0, HistoryModel::name));
        model.sort(HistoryModel::name, Qt::AscendingOrder);
        QCOMPARE(kept.data().toString(), QStringLiteral("gamma"));
        QCOMPARE(kept.row(), 2);
        QCOMPARE(model.index(0, HistoryModel::tps_error).data().toString(), QStringLiteral("+11.1 %"));
        model.setFilter(QStringLiteral("FAIL"));
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(model.rowOf(QStringLiteral("2")), 0);
        QCOMPARE(model.rowOf(QStringLiteral("3")), -1);
        model.setFilter(QString());
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.list().all().size(), std::size_t(3));
    }

    void historySortsByTheTermMostOff()
    {
        HistoryModel model;
        QAbstractItemModelTester tester(&model, kFatal);
        RunSummary traced = run("4", "delta", 100.0), slower = run("5", "epsilon", 100.0);
        traced.most_off = MostOff{"backward", 0.2, 0.15};
        slower.most_off = MostOff{"waiting", 0.2, 0.22};
        model.show({slower, traced, run("3", "alpha", 90.0), run("2", "beta", std::nullopt, RunState::fail)});
        model.sort(HistoryModel::most_off, Qt::DescendingOrder); // by how far, whatever the sign
        QCOMPARE(model.index(0, HistoryModel::most_off).data().toString(), QStringLiteral("backward -0.05 s"));
        QCOMPARE(model.index(1, HistoryModel::most_off).data().toString(), QStringLiteral("waiting +0.02 s"));
        QCOMPARE(model.index(2, HistoryModel::most_off).data().toString(), QString());
        model.setFilter(QStringLiteral("backward"));
        QCOMPARE(model.rowCount(), 1);
    }

    void historyTableKeepsIdentityAndUnknowns()
    {
        const Table table = runs_table({run("1", "a|b", std::nullopt), run("2", "c", 90.0)});
        const QString csv = fromUtf8(table.write(TableFormat::csv));
        QVERIFY(csv.startsWith(QStringLiteral("id,created,state")));
        const Json json = table.to_json();
        QVERIFY(json[0]["measured_tps_per_gpu"].is_null());
        QCOMPARE(json[1]["measured_tps_per_gpu"].get<double>(), 90.0);
        QVERIFY(fromUtf8(table.write(TableFormat::markdown)).contains(QStringLiteral("a\\|b")));
    }

    void logKeepsTheNewestLines()
    {
        RunLogModel model;
        QAbstractItemModelTester tester(&model, kFatal);
        view::LiveRun run;
        const auto show = [&] { model.follow(run.log(), run.log_count()); };
        for (int i = 0; i < 2100; ++i) {
            run.take(view::RunMessage(view::RunStateChange{RunState::running, std::to_string(i)}));
            if (i % 7 == 0)
                show();
        }
        show();
        QCOMPARE(model.rowCount(), 2000);
        QCOMPARE(model.index(0, RunLogModel::message).data().toString(), QStringLiteral("100"));
        QCOMPARE(model.index(1999, RunLogModel::message).data().toString(), QStringLiteral("2099"));
        for (const double sent : {0.5, 1.0}) { // one line that goes on
            run.take(view::RunMessage(view::RunStaging{sent, "data"}));
            show();
            QCOMPARE(model.rowCount(), 2000);
        }
        QCOMPARE(model.index(1998, RunLogModel::message).data().toString(), QStringLiteral("2099"));
        QCOMPARE(model.index(1999, RunLogModel::message).data().toString(), QStringLiteral("100 % data"));
        run.begin("next", 1, {});
        run.take(view::RunMessage(view::RunStaging{0.5, "data"}));
        show();
        QCOMPARE(model.rowCount(), 1);
        run.begin("next", 1, {});
        show();
        QCOMPARE(model.rowCount(), 0);
    }

    void factsShowBothSides()
    {
        RunDetail detail;
        detail.summary = run("1", "a", 90.0);
        detail.versions = {{"torch", "2.11.0"}, {"host", {{"cpu", "x"}}}};
        FactsModel model;
        QAbstractItemModelTester tester(&model, kFatal);
        model.show(view::run_facts(detail));
        QStringList facts;
        for (int row = 0; row < model.rowCount(); ++row)
            facts << model.index(row, 0).data().toString() + QLatin1Char('=') + model.index(row, 1).data().toString();
        QVERIFY2(
            facts.contains(QStringLiteral("Throughput=100 \u2192 90.0")), qPrintable(facts.join(QLatin1Char('\n'))));
        QVERIFY(facts.contains(QStringLiteral("torch=2.11.0")));
        QVERIFY(facts.contains(QStringLiteral("host cpu=x")));
        model.show({});
        QCOMPARE(model.rowCount(), 0);
    }

    void seriesStaysSmallAndKeepsExtremes()
    {
        view::Series series(500);
        for (int i = 0; i < 100'000; ++i)
            series.append(i, i == 54'321 ? 1000 : i == 12'345 ? -1000 : i % 7);
        const QList<QPointF> points = pointsOf(series);
        QVERIFY2(points.size() <= 500 && points.size() >= 100, qPrintable(QString::number(points.size())));
        QCOMPARE(series.count(), std::size_t(100'000));
        QCOMPARE(series.maximum(), 1000.0);
        QVERIFY(points.contains(QPointF(54'321, 1000)));
        QVERIFY(points.contains(QPointF(12'345, -1000)));
        for (qsizetype i = 1; i < points.size(); ++i)
            QVERIFY(points[i - 1].x() <= points[i].x());
        view::Series few(500);
        for (int i = 0; i < 400; ++i)
            few.append(i, i);
        QCOMPARE(few.points().size(), std::size_t(400));
    }

    void editsMergePerFieldAndUndo()
    {
        const Presets presets;
        PlanDocument document(presets);
        document.reset(*parse_plan(test::clusterPlan().toStdString(), "test"));
        QVERIFY(!document.isDirty());
        for (const int tp : {4, 8})
            document.setValue("layout.tp", tp, QStringLiteral("Change TP"));
        document.setValue("training.micro_batch", 2, QStringLiteral("Change micro-batch"));
        QCOMPARE(document.undoStack().count(), 2);
        QVERIFY(document.isDirty());
        QVERIFY(value_at(document.plan().document, "layout.dp").is_null()); // follows the other degrees now
        QCOMPARE(document.resolved()->layout.dp, 2);
        document.undoStack().undo();
        document.undoStack().undo();
        QVERIFY(!document.isDirty());
        QCOMPARE(document.resolved()->layout.tp, 2);
        QCOMPARE(document.resolved()->layout.dp, 8);
        QCOMPARE(fromUtf8(to_text(document.plan())),
            fromUtf8(to_text(*parse_plan(test::clusterPlan().toStdString(), "test"))));
        QSignalSpy refused(&document, &PlanDocument::editRefused);
        document.setValue("layout.tp", "two", QStringLiteral("Change TP"));
        QCOMPARE(refused.count(), 1);
        QCOMPARE(document.resolved()->layout.tp, 2);
    }

    void verdictHasWords()
    {
        const view::Verdict fits = view::verdict_of(predicted(test::clusterPlan()));
        QVERIFY(!fits.word.empty());
        Prediction small = predicted(test::clusterPlan());
        small.fit = Fit::no;
        small.memory_device_gib = small.memory_capacity_gib + 2;
        QCOMPARE(view::verdict_of(small).word, std::string("Does not fit."));
        QVERIFY(view::verdict_of(small).rest.find("2.00") != std::string::npos);
    }
};

int main(int argc, char** argv)
{
    const test::Home home;
    QGuiApplication application(argc, argv);
    ModelsTest tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "models_test.moc"
