// SPDX-License-Identifier: GPL-3.0-or-later
// A run while it goes: followed, read off, and what the hand that started it meets next.
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/panels/banner.h"
#include "tests/gui/runs_fixture.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;
using test::runOfAKilledProgram;
using Fixture = test::RunsFixture;

class LiveTest : public QObject {
    Q_OBJECT
private slots:
    // Stop means the run, whoever started it; leaving it alone has a button of its own.
    void aFollowedRunIsLeftOrStopped()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QTemporaryDir folder;
        const QString id = runOfAKilledProgram(folder.path(), test::Home::the().path(QStringLiteral("tiny.plan.json")));
        QVERIFY(!id.isEmpty());
        QVERIFY(!w.button("detach")->isVisible());
        w.runs().follow(id);
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > 0; }, kPatience));
        QVERIFY(w.button("detach")->isVisible());
        QTest::mouseClick(w.button("detach"), Qt::LeftButton);
        QVERIFY(w.ends());
        QCOMPARE(w.live().run().state(), RunState::running);

        w.runs().follow(id);
        const int before = w.live().run().step();
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > before + 5; }, kPatience));
        QCOMPARE(w.stop(), 1);
        QVERIFY(!w.button("stop")->isEnabled());
        QVERIFY(w.ends());
        QCOMPARE(w.live().id(), id);
        QCOMPARE(w.live().run().state(), RunState::cancelled);
        QVERIFY(!w.button("detach")->isVisible());
    }

    // Who follows a run again sees all of it, not only what came since.
    void aFollowedRunIsShownFromItsFirstStep()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QTemporaryDir folder;
        const QString id = runOfAKilledProgram(folder.path(), test::Home::the().path(QStringLiteral("tiny.plan.json")));
        QVERIFY(!id.isEmpty());
        w.runs().follow(id);
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > 10; }, kPatience));
        QCOMPARE(w.live().run().throughput().points().front().first, 1.0);
        QCOMPARE(
            static_cast<int>(w.live().run().throughput().count()), w.live().run().step()); // none twice, none left out
        QCOMPARE(w.live().run().total_steps(), 100'000);
        QCOMPARE(w.live().run().rank_name(1), std::string("rank 1 on node-b")); // said when the run began
        QVERIFY(w.live().run().seconds_left().value_or(0) > 0);
        QTest::mouseClick(w.button("detach"), Qt::LeftButton);
        QVERIFY(w.ends());
        QVERIFY(fromUtf8(w.live().run().state_text()).contains(QStringLiteral("goes on")));
        w.runs().follow(id); // once more, and the steps that came before are those of before
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > 20; }, kPatience));
        QCOMPARE(static_cast<int>(w.live().run().throughput().count()), w.live().run().step());
        QCOMPARE(w.stop(), 1);
        QVERIFY(w.ends());
    }

    // A line that is lost is said over the charts, which stay; what comes when it is back continues them.
    void chartsCatchUpAfterALostLine()
    {
        Fixture w(test::tinyPlan(10, 20));
        RunController& controller = w.window.controller();
        const auto* banner = w.runs().findChild<Banner*>();
        const auto steps = [&controller](std::initializer_list<int> numbers) {
            std::vector<Json> events;
            for (const int step : numbers)
                events.push_back(
                    {{"event", "step"}, {"time", "2026-01-01T00:00:01.000Z"}, {"step", step}, {"loss", 8.0 / step}});
            emit controller.eventsArrived(events);
        };
        const auto link = [&controller](LinkState state) {
            emit controller.said(view::RunMessage(view::RunLink{state, "node-a"}));
        };
        emit controller.started();
        steps({1, 2});
        QVERIFY(!banner->isVisible());
        link(LinkState::reconnecting);
        QVERIFY(banner->isVisible());
        QVERIFY2(banner->text().contains(QStringLiteral("node-a is down since")), qPrintable(banner->text()));
        QVERIFY2(banner->text().contains(QStringLiteral("catches up")), qPrintable(banner->text()));
        QCOMPARE(w.live().run().loss().count(), std::size_t(2)); // what was there is still read
        link(LinkState::connected);
        QVERIFY(!banner->isVisible());
        steps({3, 4, 5});
        QCOMPARE(w.live().run().loss().count(), std::size_t(5));
        QCOMPARE(w.live().run().step(), 5);
    }

    void nothingMovesUnderTheHand_data()
    {
        QTest::addColumn<int>("height");
        QTest::newRow("a form with room") << 800;
        QTest::newRow("a form that scrolls") << 420;
    }

    // A second press of the key that started a run must not hit what ends it; buttons stay where they are.
    void nothingMovesUnderTheHand()
    {
        QFETCH(int, height);
        Fixture w(test::tinyPlan(100'000, 20));
        w.window.resize(w.window.width(), height);
        QPushButton* start = w.button("start");
        QVERIFY(w.answered()); // the form says what it expects
        QTest::qWait(50); // laid out
        const QPoint place = start->mapTo(&w.window, QPoint());
        const QPoint below = w.button("checkNodes")->mapTo(&w.window, QPoint());
        auto* target = w.child<QComboBox>("target");
        target->setFocus();
        QTest::keyClick(target, Qt::Key_End); // the hosts, by hand
        QVERIFY(!w.runs().form().canStart());
        QTRY_COMPARE(start->mapTo(&w.window, QPoint()), place);
        QCOMPARE(w.button("checkNodes")->mapTo(&w.window, QPoint()), below);
        QVERIFY(w.child<QLineEdit>("hosts")->hasFocus());
        target->setCurrentIndex(0);

        start->setFocus();
        QTest::keyClick(start, Qt::Key_Space);
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > 0; }, kPatience));
        const QWidget* focused = w.window.focusWidget();
        QVERIFY(focused != w.button("stop") && focused != w.button("restart"));
        w.window.controller().stop();
        QVERIFY(w.ends());
        // Its end is said once.
        QStringList said;
        for (int row = 0; row < w.live().log().rowCount(); ++row)
            said << w.live().log().index(row, RunLogModel::kind).data().toString();
        QCOMPARE(said.count(QStringLiteral("Stopped")), 1);
    }

    void aPlaceIsReadOffInAllChartsAndHeld()
    {
        Fixture w(test::tinyPlan(30, 5));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(w.ends());
        LineChart &throughput = w.runs().throughputChart(), &mfu = w.runs().mfuChart();
        throughput.grab(); // laid out
        const QPoint middle = throughput.rect().center();
        QTest::mouseMove(&throughput, middle);
        QTRY_VERIFY(throughput.cursor().has_value());
        QCOMPARE(mfu.cursor(), throughput.cursor());
        QTest::mouseClick(&throughput, Qt::LeftButton, {}, middle);
        QVERIFY(throughput.isHeld() && mfu.isHeld());
        const std::optional<double> held = throughput.cursor();
        QTest::mouseMove(&mfu, mfu.rect().center() + QPoint(40, 0));
        QTest::qWait(20);
        QCOMPARE(mfu.cursor(), held); // frozen, wherever the pointer goes
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(&mfu, &leave);
        QCOMPARE(throughput.cursor(), held);

        const QStringList reading = throughput.readingAt(held);
        QVERIFY2(
            reading.size() == 5, qPrintable(reading.join(QLatin1Char('\n')))); // place, value, ranks, median, predicted
        QVERIFY(reading[1].startsWith(QStringLiteral("Measured 1,00")));
        QVERIFY(reading[2].startsWith(QStringLiteral("Ranks ")));
        QVERIFY(reading[3].startsWith(QStringLiteral("Median ")));
        QVERIFY(reading[4].startsWith(QStringLiteral("Predicted ")) && reading[4].endsWith(QStringLiteral("%)")));
        QCOMPARE(throughput.accessibleDescription(), reading.join(QStringLiteral("; ")));
        const Table table = throughput.table();
        QVERIFY(
            std::any_of(table.columns.begin(), table.columns.end(), [](const Column& c) { return c.key == "median"; }));

        // What is held right of the last step is that step, also when others come.
        QTest::mouseClick(&throughput, Qt::LeftButton, {}, middle);
        for (int x = throughput.width(); x > 0 && !throughput.isHeld(); --x) // the right edge of the plot
            QTest::mouseClick(&throughput, Qt::LeftButton, {}, QPoint(x, middle.y()));
        QCOMPARE(throughput.cursor(), std::optional<double>(30.0));

        // The same by keys alone.
        mfu.setFocus();
        QTest::keyClick(&mfu, Qt::Key_Space);
        QVERIFY(!throughput.isHeld());
        QTest::keyClick(&mfu, Qt::Key_Left);
        QCOMPARE(throughput.cursor(), std::optional<double>(29.0)); // the step before
        QTest::keyClick(&mfu, Qt::Key_Return);
        QVERIFY(throughput.isHeld());
        QTest::keyClick(&mfu, Qt::Key_Escape);
        QVERIFY(!throughput.isHeld() && !throughput.cursor() && !mfu.cursor());
    }

    // Thousands of events a second: they come in order and in small pieces, and the charts are drawn once a batch.
    void aFastRunKeepsTheWindowFree()
    {
        constexpr int steps = 20'000;
        Fixture w(test::tinyPlan(steps, 0));
        qsizetype last = -1, largest = 0, unfinished = 0;
        bool inOrder = true, more = false;
        connect(&w.window.controller(), &RunController::eventsArrived, this,
            [&](const std::vector<Json>& events, bool goesOn) {
                for (const Json& event : events) {
                    inOrder = inOrder && event["seq"].get<qsizetype>() == last + 1;
                    last = event["seq"].get<qsizetype>();
                }
                largest = std::max(largest, qsizetype(events.size()));
                unfinished += goesOn ? 1 : 0;
                more = goesOn;
            });
        QSignalSpy drawn(&w.live(), &LiveRun::pointsArrived);
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(w.ends());
        QCOMPARE(w.live().run().state(), RunState::ok);
        QVERIFY(inOrder);
        QVERIFY(!more);
        QCOMPARE(static_cast<int>(w.live().run().throughput().count()), steps);
        QVERIFY2(largest <= 100, qPrintable(QString::number(largest)));
        QVERIFY2(unfinished > 20, qPrintable(QString::number(unfinished)));
        QVERIFY2(drawn.count() < unfinished, qPrintable(QString::number(drawn.count())));
        QCOMPARE(w.runs().throughputChart().pointCount(), int(w.live().run().throughput().points().size()));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<LiveTest>(argc, argv);
}

#include "live_test.moc"
