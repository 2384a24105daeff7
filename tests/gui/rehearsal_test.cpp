// SPDX-License-Identifier: GPL-3.0-or-later
// *Rehearse* beside *Start*, and the load of experts, in the window: with a trainer that trains nothing.
#include "app/desktop/pages/runs/rehearsal_dialog.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "core/schedule/chrome_trace.h"
#include "tests/gui/runs_fixture.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QLabel>

using namespace fourfold;
using namespace fourfold::ui;

using test::kPatience;
using Fixture = test::RunsFixture;

class RehearsalTest : public QObject {
    Q_OBJECT
private slots:
    void theLoadOfExpertsIsDrawnLive()
    {
        Fixture w(test::tinyPlan(20, 20).replace("\"FAKE_TWO_HOSTS\"", "\"FAKE_EXPERTS\": \"1\", \"FAKE_TWO_HOSTS\""));
        QVERIFY(!w.runs().expertsChart().isVisible());
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return w.runs().expertsChart().pointCount() > 0; }, kPatience));
        QVERIFY(w.runs().expertsChart().isVisible());
        QVERIFY(w.ends());
        QCOMPARE(static_cast<int>(w.live().run().busiest_expert().count()), 20);
        QCOMPARE(w.live().run().experts_text(),
            std::string("in layer 3; 2 experts without a token; 25.0 % of choices dropped"));
    }

    // The button, what the dialog says of a plan that runs and of one that does not, the step beside the planned one.
    void rehearsesThePlan()
    {
        Timeline step;
        step.stages = 1;
        step.length_s = 0.003;
        step.spans = {{0, SpanKind::forward, 0, 0, 0, 0.001}, {0, SpanKind::backward, 0, 0, 0.001, 0.003}};
        Json rehearsal{{"fourfold_rehearsal", 1}, {"ranks", 2}, {"rehearsed", 2}, {"steps", 2}, {"verdict", "ok"},
            {"fits", true}, {"deadlock", false}, {"problem", nullptr}, {"problems", Json::array()}, {"at_once", 1},
            {"step_time_s", 0.003}, {"capacity_gib", 1}, {"stages", Json::array()},
            {"timeline", chrome_trace(step, "Tiny")}};
        qputenv("FAKE_REHEARSAL", QByteArray::fromStdString(rehearsal.dump()));
        Fixture w(test::tinyPlan(20, 20));
        const auto rehearse = [&](const QString& headline) -> RehearsalDialog* {
            QTest::mouseClick(w.button("rehearse"), Qt::LeftButton);
            auto* dialog = w.window.findChild<RehearsalDialog*>();
            const auto says = [&] { return dialog->findChild<QLabel*>(QStringLiteral("rehearsalHeadline"))->text(); };
            return dialog && QTest::qWaitFor([&] { return says().startsWith(headline); }, kPatience) ? dialog : nullptr;
        };
        RehearsalDialog* good = rehearse(QStringLiteral("Fits, and no rank waits for ever"));
        QVERIFY(good);
        QVERIFY(good->job().outcome()->has_timelines());
        for (const char* name : {"plannedStep", "rehearsedStep"}) {
            auto* view = good->findChild<TimelineView*>(QLatin1String(name));
            QVERIFY(view && view->isVisible());
            QVERIFY(view->scene().rows() > 0);
        }
        QTest::mouseClick(good->findChild<QPushButton*>(QStringLiteral("copyRehearsal")), Qt::LeftButton);
        QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("no deadlock")));
        QTest::mouseClick(good->findChild<QPushButton*>(QStringLiteral("stopRehearsal")), Qt::LeftButton);

        rehearsal.update(Json{{"verdict", "failed"}, {"deadlock", true}, {"problem", "rank 1 waits"},
            {"problems", {"rank 1 waits for rank 0"}}, {"timeline", nullptr}, {"step_time_s", nullptr}});
        qputenv("FAKE_REHEARSAL", QByteArray::fromStdString(rehearsal.dump()));
        RehearsalDialog* bad = rehearse(QStringLiteral("Would not run: ranks wait"));
        QVERIFY(bad);
        QVERIFY(bad->findChild<QLabel*>(QStringLiteral("rehearsalWords"))
                    ->text()
                    .contains(QStringLiteral("rank 1 waits for rank 0")));
        QVERIFY(!bad->findChild<TimelineView*>(QStringLiteral("plannedStep"))->isVisible());
        bad->close();

        const auto runs = [] {
            const auto store = HistoryStore::open(Fixture::historyFile(), StoreMode::read_only);
            const auto list = store ? store->list() : Expected<std::vector<RunSummary>>(store.error());
            return list ? int(list->size()) : 0;
        };
        const int before = runs();
        // Such a plan starts where nobody wants it rehearsed first.
        w.window.findChild<QCheckBox*>(QStringLiteral("rehearsesFirst"))->click();
        QVERIFY(
            w.window.findChild<QLabel*>(QStringLiteral("message"))->text().contains(QStringLiteral("Not rehearsed")));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(w.ends());
        QCOMPARE(runs(), before + 1);
        qunsetenv("FAKE_REHEARSAL");
    }
};

int main(int argc, char** argv)
{
    return test::runTests<RehearsalTest>(argc, argv);
}

#include "rehearsal_test.moc"
