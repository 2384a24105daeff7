// SPDX-License-Identifier: GPL-3.0-or-later
// Runs from the window through the real launcher and agent, with a trainer that trains nothing.
#include "app/desktop/dialogs.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/history_page.h"
#include "app/desktop/pages/run_form.h"
#include "app/desktop/pages/runs_page.h"
#include "app/desktop/widgets/figure_card.h"
#include "app/desktop/widgets/line_chart.h"
#include "app/models/text.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
const test::Home* theHome = nullptr;
constexpr int kPatience = 120'000; // milliseconds; CI has two loaded cores

struct Fixture {
    Presets presets;
    MainWindow window;

    explicit Fixture(const QByteArray& plan)
        : window(presets, options())
    {
        window.resize(1280, 800);
        window.show();
        window.openPlan(theHome->write(QStringLiteral("tiny.plan.json"), plan).toStdString());
        window.showPage(MainWindow::Page::runs);
    }
    static MainWindow::Options options()
    {
        MainWindow::Options options;
        options.trainer = FOURFOLD_BIN_DIR "/../tests/fake-trainer";
        options.session = false;
        return options;
    }
    RunsPage& runs() { return window.runsPage(); }
    LiveRun& live() { return window.liveRun(); }
    QPushButton* button(const char* name) { return window.findChild<QPushButton*>(QString::fromLatin1(name)); }
    bool ends()
    {
        return QTest::qWaitFor([this] { return !window.controller().isRunning(); }, kPatience);
    }
};
} // namespace

class RunsTest : public QObject {
    Q_OBJECT
private slots:
    void throughputArrivesAndTheRunIsInTheHistory()
    {
        Fixture w(test::tinyPlan(40, 30));
        QVERIFY2(w.runs().form().canStart(), qPrintable(w.runs().form().refusal()));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(w.window.controller().isRunning());
        QVERIFY(!w.button("start")->isEnabled());
        QVERIFY(QTest::qWaitFor([&] { return w.runs().throughputChart().pointCount() > 0; }, kPatience));
        QVERIFY(w.runs().throughputChart().level().has_value()); // the prediction is drawn beside it
        QVERIFY(w.ends());
        QCOMPARE(w.live().state(), RunState::ok);
        QCOMPARE(w.live().throughput().count(), 40);
        QCOMPARE(w.live().step(), 40);
        QVERIFY(w.live().measuredThroughput().has_value());
        QVERIFY(w.live().log().rowCount() > 2);
        QCOMPARE(w.runs().figures()[0]->figure().value, QStringLiteral("Done"));
        QVERIFY(w.button("start")->isEnabled());

        w.window.showPage(MainWindow::Page::history);
        const HistoryModel& history = w.window.historyPage().model();
        const int row = history.rowOf(w.live().id());
        QVERIFY(row >= 0);
        QVERIFY(!history.index(row, HistoryModel::predictedTps).data().toString().isEmpty());
        QVERIFY(!history.index(row, HistoryModel::measuredTps).data().toString().isEmpty());
        QVERIFY(!history.index(row, HistoryModel::tpsError).data().toString().isEmpty());
        const QString csv = theHome->path(QStringLiteral("history.csv"));
        QVERIFY(w.window.historyPage().exportTo(csv));
        QVERIFY(test::readFile(csv).contains(w.live().id().toUtf8()));
    }

    void stopEndsTheRun()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return w.live().step() > 0; }, kPatience));
        QTest::mouseClick(w.button("stop"), Qt::LeftButton);
        QVERIFY(!w.button("stop")->isEnabled());
        QVERIFY(w.ends());
        QCOMPARE(w.live().state(), RunState::cancelled);
        w.window.showPage(MainWindow::Page::history);
        const HistoryModel& history = w.window.historyPage().model();
        const int row = history.rowOf(w.live().id());
        QVERIFY(row >= 0);
        QCOMPARE(history.index(row, HistoryModel::state).data().toString(), QStringLiteral("Stopped"));
    }

    void aRankThatDiesIsNamed()
    {
        QByteArray plan = test::tinyPlan(40, 5);
        plan.replace("\"FAKE_STEP_MS\"", "\"FAKE_FAIL_RANK\": \"1\", \"FAKE_HOW\": \"exit37\", \"FAKE_STEP_MS\"");
        Fixture w(plan);
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(w.ends());
        QCOMPARE(w.live().state(), RunState::fail);
        QVERIFY2(w.live().stateText().contains(QStringLiteral("1")), qPrintable(w.live().stateText()));
        QCOMPARE(w.runs().figures()[0]->figure().value, QStringLiteral("Failed"));
    }

    void closingWhileRunningAsks()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return w.live().step() > 0; }, kPatience));
        {
            test::DialogWatch watch([](QMessageBox& box) { QCOMPARE(box.objectName(), QStringLiteral("stopRun")); });
            QVERIFY(!w.window.close()); // escape keeps it running
            QCOMPARE(watch.seen(), 1);
        }
        QVERIFY(w.window.controller().isRunning());
        w.window.controller().stop();
        QVERIFY(w.ends());
    }

    void hostListIsNeeded()
    {
        Fixture w(test::tinyPlan(5, 5));
        auto* target = w.window.findChild<QComboBox*>(QStringLiteral("target"));
        target->setCurrentIndex(target->findData(QStringLiteral("hosts")));
        QVERIFY(!w.runs().form().canStart());
        auto* hosts = w.window.findChild<QLineEdit*>(QStringLiteral("hosts"));
        hosts->setText(QStringLiteral("me@host1, host2:2222"));
        QVERIFY2(w.runs().form().canStart(), qPrintable(w.runs().form().refusal()));
        QCOMPARE(w.runs().form().target(), QStringLiteral("me@host1,host2:2222"));
        hosts->setText(QStringLiteral("me@host1;rm"));
        QVERIFY(!w.runs().form().canStart());
        QVERIFY(!w.runs().form().refusal().isEmpty());
    }

    void unknownHostKeyIsShown()
    {
        const HostKeyQuestion question{"node1", "ssh-ed25519", "SHA256:abc"};
        QString told;
        test::DialogWatch watch([&](QMessageBox& box) {
            told = box.text() + box.informativeText();
            for (QAbstractButton* button : box.buttons()) {
                if (box.buttonRole(button) == QMessageBox::AcceptRole)
                    button->click();
            }
        });
        QVERIFY(askHostKey(nullptr, question));
        for (const char* part : {"node1", "ssh-ed25519", "SHA256:abc"})
            QVERIFY2(told.contains(QLatin1String(part)), part);
    }
};

int main(int argc, char** argv)
{
    const test::Home home;
    theHome = &home;
    QApplication application(argc, argv);
    prepareAppearance();
    applyTheme(ThemeChoice::light);
    RunsTest tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "runs_test.moc"
