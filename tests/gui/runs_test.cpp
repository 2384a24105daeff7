// SPDX-License-Identifier: GPL-3.0-or-later
// Runs from the window through the real launcher and agent, with a trainer that trains nothing.
#include "app/desktop/dialogs.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/cluster_dialog.h"
#include "app/desktop/pages/history_page.h"
#include "app/desktop/pages/node_report.h"
#include "app/desktop/pages/run_details.h"
#include "app/desktop/pages/run_form.h"
#include "app/desktop/pages/runs_page.h"
#include "app/desktop/pages/sweep_dialog.h"
#include "app/desktop/widgets/banner.h"
#include "app/desktop/widgets/figure_card.h"
#include "app/desktop/widgets/heat_map.h"
#include "app/desktop/widgets/line_chart.h"
#include "app/models/history_access.h"
#include "app/models/preset_model.h"
#include "app/models/text.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include "core/history/store.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
using test::kPatience;

// The command line's `fourfold run PLAN` in the windows' history, killed once the run is under way; returns the run's
// id.
QString runOfAKilledProgram(const QString& folder, const QString& plan)
{
    for (const auto& [from, to] : {std::pair{"fourfold", "fourfold"}, std::pair{"fourfold-agent", "fourfold-agent"},
             std::pair{"../tests/fake-trainer", "fourfold-trainer"}})
        QFile::copy(QStringLiteral(FOURFOLD_BIN_DIR "/%1").arg(QLatin1String(from)),
            folder + QLatin1Char('/') + QLatin1String(to));
    // The windows of these tests keep their history in a place of its own.
    const auto usual = HistoryStore::default_file();
    std::filesystem::create_directories(usual.parent_path());
    std::filesystem::remove(usual);
    if (!HistoryStore::open(test::WindowFixture::historyFile()))
        return {};
    std::filesystem::create_symlink(test::WindowFixture::historyFile(), usual);
    QProcess program;
    program.start(folder + QStringLiteral("/fourfold"), {QStringLiteral("run"), plan, QStringLiteral("--json")});
    QByteArray said;
    const bool underWay = QTest::qWaitFor(
        [&] { return (said += program.readAllStandardOutput()).contains("\"event\":\"step\""); }, kPatience);
    program.kill(); // by the id of the process that was started here
    program.waitForFinished();
    if (!underWay) {
        qWarning() << said << program.readAllStandardError();
        return {};
    }
    const auto store = HistoryStore::open(usual, StoreMode::read_only);
    const auto id = store ? store->full_id("last") : Expected<std::string>(store.error());
    return id ? fromUtf8(*id) : QString();
}

struct Fixture : test::WindowFixture {
    explicit Fixture(const QByteArray& plan)
        : WindowFixture(FOURFOLD_BIN_DIR "/../tests/fake-trainer")
    {
        open(QStringLiteral("tiny.plan.json"), plan);
        window.showPage(MainWindow::Page::runs);
    }
    RunsPage& runs() { return window.runsPage(); }
    LiveRun& live() { return window.liveRun(); }
    QPushButton* button(const char* name) { return child<QPushButton>(name); }
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
        QVERIFY(w.runs().mfuChart().level().has_value());
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
        const QString csv = test::Home::the().path(QStringLiteral("history.csv"));
        QVERIFY(w.window.historyPage().exportTo(csv));
        QVERIFY(test::readFile(csv).contains(w.live().id().toUtf8()));
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
        QCOMPARE(w.live().state(), RunState::ok);
        QVERIFY(inOrder);
        QVERIFY(!more);
        QCOMPARE(w.live().throughput().count(), steps);
        QVERIFY2(largest <= 100, qPrintable(QString::number(largest)));
        QVERIFY2(unfinished > 20, qPrintable(QString::number(unfinished)));
        QVERIFY2(drawn.count() < unfinished, qPrintable(QString::number(drawn.count())));
        QCOMPARE(w.runs().throughputChart().pointCount(), int(w.live().throughput().points().size()));
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

    // Stop means the run, whoever started it; leaving it alone has a button of its own.
    void aFollowedRunIsLeftOrStopped()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QTemporaryDir folder;
        const QString id = runOfAKilledProgram(folder.path(), test::Home::the().path(QStringLiteral("tiny.plan.json")));
        QVERIFY(!id.isEmpty());
        QVERIFY(!w.button("detach")->isVisible());
        w.runs().follow(id);
        QVERIFY(QTest::qWaitFor([&] { return w.live().step() > 0; }, kPatience));
        QVERIFY(w.button("detach")->isVisible());
        QTest::mouseClick(w.button("detach"), Qt::LeftButton);
        QVERIFY(w.ends());
        QCOMPARE(w.live().state(), RunState::running);

        w.runs().follow(id);
        const int before = w.live().step();
        QVERIFY(QTest::qWaitFor([&] { return w.live().step() > before + 5; }, kPatience));
        QTest::mouseClick(w.button("stop"), Qt::LeftButton);
        QVERIFY(!w.button("stop")->isEnabled());
        QVERIFY(w.ends());
        QCOMPARE(w.live().id(), id);
        QCOMPARE(w.live().state(), RunState::cancelled);
        QVERIFY(!w.button("detach")->isVisible());
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

    void ranksAreSpreadAndTheWorstIsNamed()
    {
        Fixture w(test::tinyPlan(30, 10));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(w.ends());
        QCOMPARE(w.live().memoryOverRanks().least.count(), 30);
        QCOMPARE(w.live().memoryOverRanks().least.last().y(), 0.125);
        QCOMPARE(w.live().memoryOverRanks().median.last().y(), 0.1875);
        QCOMPARE(w.live().memoryOverRanks().greatest.last().y(), 0.25);
        QCOMPARE(w.live().rankName(w.live().memoryOverRanks().worstRank), QStringLiteral("rank 1 on node-b"));
        QVERIFY(w.live().throughputOverRanks().least.last().y() < w.live().throughput().last().y());
        QVERIFY(w.runs().throughputChart().accessibleDescription().contains(QStringLiteral("slowest: rank 0")));
        const Table table = w.runs().throughputChart().table();
        QVERIFY(
            std::any_of(table.columns.begin(), table.columns.end(), [](const Column& c) { return c.key == "least"; }));
    }

    void theFailurePageSaysWhoWhereAndWhat()
    {
        QByteArray plan = test::tinyPlan(40, 5);
        plan.replace("\"FAKE_STEP_MS\"", "\"FAKE_FAIL_RANK\": \"1\", \"FAKE_HOW\": \"oom\", \"FAKE_STEP_MS\"");
        Fixture w(plan);
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(w.ends());
        QCOMPARE(w.live().state(), RunState::oom);
        const QString text = w.runs().details().failureText();
        for (const char* part :
            {"Rank 1 failed first, on ", "tp 1", "out of memory in layer 3", "Last collective", "rank1.log"})
            QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
        auto* live = w.runs().findChild<QPlainTextEdit*>(QStringLiteral("failureLog"));
        QVERIFY(live->toPlainText().contains(QStringLiteral("something went wrong")));

        // The history keeps all of it.
        QTest::keyClick(&w.window, Qt::Key_5, Qt::ControlModifier);
        HistoryPage& history = w.window.historyPage();
        auto* facts = history.findChild<QLabel*>(QStringLiteral("failureFacts"));
        QTRY_VERIFY(facts->isVisible());
        for (const char* part : {"Rank 1 failed first, on ", "tp 1", "out of memory in layer 3", "Last collective"})
            QVERIFY2(facts->text().contains(QLatin1String(part)), qPrintable(facts->text()));
        auto* log = history.findChild<QPlainTextEdit*>(QStringLiteral("failureLog"));
        QVERIFY(log->isVisible() && log->toPlainText().contains(QStringLiteral("something went wrong")));
        QStringList rows;
        auto* table = history.findChild<QTableView*>(QStringLiteral("runFacts"));
        for (int row = 0; row < table->model()->rowCount(); ++row)
            rows << table->model()->index(row, 0).data().toString() + QStringLiteral(": ")
                    + table->model()->index(row, 1).data().toString();
        const QString all = rows.join(QLatin1Char('\n'));
        for (const char* row :
            {"State: ", "Problem: ", "First to fail: Rank 1 failed first, on ", "In the mesh: tp 1", "Throughput: "})
            QVERIFY2(all.contains(QLatin1String(row)), qPrintable(all));
    }

    void restartDoesTheSameAgain()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QVERIFY(!w.button("restart")->isEnabled());
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return w.live().step() > 2; }, kPatience));
        const QString first = w.live().id();
        QTest::mouseClick(w.button("restart"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor(
            [&] { return !w.live().id().isEmpty() && w.live().id() != first && w.live().step() > 0; }, kPatience));
        QTest::mouseClick(w.button("stop"), Qt::LeftButton);
        QVERIFY(w.ends());
        QVERIFY(storedRun(w.historyFile(), first)->summary.state == "cancelled");
    }

    void nodesAreCheckedWithoutARun()
    {
        Fixture w(test::tinyPlan(5, 5));
        QSignalSpy checked(&w.window.controller(), &RunController::checked);
        QTest::mouseClick(w.button("checkNodes"), Qt::LeftButton);
        QVERIFY(!w.button("start")->isEnabled());
        QVERIFY(checked.count() > 0 || checked.wait(kPatience));
        NodeReport& report = w.runs().details().nodeReport();
        QVERIFY2(report.verdict().startsWith(QStringLiteral("1 node, ")), qPrintable(report.verdict()));
        QVERIFY(report.isVisible());
        QVERIFY(w.button("start")->isEnabled());
        QVERIFY(!w.live().hasRun());
        const Table table = report.findings().table();
        for (const std::vector<Cell>& row : table.rows)
            QVERIFY(!std::get<std::string>(row[3]).empty());
    }

    void checkedNodesBecomeAClusterOfTheUsers()
    {
        Fixture w(test::tinyPlan(5, 5));
        QSignalSpy checked(&w.window.controller(), &RunController::checked);
        auto* save = w.child<QPushButton>("saveNodes");
        QVERIFY(!save->isEnabled()); // nothing was looked at
        QTest::mouseClick(w.button("checkNodes"), Qt::LeftButton);
        QVERIFY(checked.count() > 0 || checked.wait(kPatience));
        QVERIFY(save->isEnabled());
        const test::WhenDialog<ClusterDialog> fill([&](ClusterDialog& dialog) {
            auto* id = dialog.findChild<QLineEdit*>(QStringLiteral("clusterId"));
            auto* accept = dialog.findChild<QPushButton*>(QStringLiteral("clusterSave"));
            id->clear();
            QVERIFY(!accept->isEnabled());
            QTest::keyClicks(id, QStringLiteral("our-node"));
            QTest::mouseClick(accept, Qt::LeftButton);
        });
        QTest::mouseClick(save, Qt::LeftButton);
        QVERIFY(checked.count() > 1 || checked.wait(kPatience));
        QTRY_VERIFY(w.window.banner().text().contains(QStringLiteral("our-node")));
        const Expected<Cluster> cluster = w.presets.cluster("our-node");
        QVERIFY2(cluster.has_value(), cluster ? "" : cluster.error().line().c_str());
        QVERIFY(cluster->gpu.is_cpu());
        QVERIFY(cluster->gpu.memory_bandwidth_gb_s > 0);
        for (auto* button : w.window.banner().findChildren<QPushButton*>()) {
            if (button->text() == QStringLiteral("Use it in the open plan"))
                QTest::mouseClick(button, Qt::LeftButton);
        }
        QCOMPARE(w.window.page(), MainWindow::Page::plan);
        QCOMPARE(w.document().lastResolved()->cluster.id, std::string("our-node"));
        QCOMPARE(
            w.child<QComboBox>("cluster")->currentData(PresetModel::IdRole).toString(), QStringLiteral("our-node"));
    }

    void aSweepFillsItsTable()
    {
        Fixture w(test::tinyPlan(6, 5));
        const test::WhenDialog<SweepDialog> fill([&](SweepDialog& dialog) {
            auto* layouts = dialog.findChild<QPlainTextEdit*>(QStringLiteral("sweepLayouts"));
            auto* start = dialog.findChild<QPushButton*>(QStringLiteral("sweepStart"));
            layouts->setPlainText(QStringLiteral("tp,cp,pp\n2,1,1\n"));
            QVERIFY(!start->isEnabled()); // a column is missing, and it says so
            QVERIFY(
                dialog.findChild<QLabel*>(QStringLiteral("sweepSaid"))->text().contains(QStringLiteral("micro_batch")));
            layouts->setPlainText(QStringLiteral("tp,cp,pp,micro_batch\n2,1,1,1\n1,1,1,1\n8,1,1,1\n"));
            dialog.findChild<QLineEdit*>(QStringLiteral("sweepGpuCounts"))->setText(QStringLiteral("2"));
            QTest::mouseClick(start, Qt::LeftButton);
        });
        QSignalSpy moved(&w.window.controller(), &RunController::sweepMoved);
        QTest::mouseClick(w.button("measureTable"), Qt::LeftButton);
        QVERIFY(w.ends());
        QVERIFY(moved.count() >= 2);
        const HeatGrid& grid = w.runs().details().sweepMap().grid();
        QCOMPARE(grid.rows.size(), 3);
        QVERIFY(grid.at(0, 0)->value.has_value());
        QVERIFY(grid.at(1, 0)->value.has_value());
        QCOMPARE(grid.at(2, 0)->state, HeatCell::State::impossible);
        QCOMPARE(w.runs().details().sweepMap().table().rows.size(), std::size_t(3));
        const auto* tabs = w.runs().details().findChild<QTabBar*>(QStringLiteral("cardSwitch"));
        QCOMPARE(tabs->tabRect(0).left(), 0); // the new tab has made room for itself
        QVERIFY(tabs->tabRect(RunDetails::sweep).right() < tabs->width());
    }

    void aSecretIsAskedForAndMayBeDeclined()
    {
        std::optional<std::string> answer;
        QString prompt;
        QLineEdit::EchoMode echo = QLineEdit::Normal;
        const auto with = [&](const std::function<void(QDialog&, QLineEdit&)>& act) {
            QTimer watch;
            QObject::connect(&watch, &QTimer::timeout, [&] {
                auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
                if (!dialog || dialog->objectName() != QStringLiteral("secret"))
                    return;
                watch.stop();
                auto* field = dialog->findChild<QLineEdit*>(QStringLiteral("secretAnswer"));
                echo = field->echoMode();
                for (const QLabel* label : dialog->findChildren<QLabel*>())
                    prompt += label->text();
                act(*dialog, *field);
            });
            watch.start(10);
            answer = askSecret(nullptr, {"node1", "passphrase of <b>~/.ssh/id</b>", false});
        };
        with([](QDialog&, QLineEdit& field) {
            QTest::keyClicks(&field, QStringLiteral("open sesame"));
            QTest::keyClick(&field, Qt::Key_Return);
        });
        QCOMPARE(answer, std::optional<std::string>("open sesame"));
        QCOMPARE(echo, QLineEdit::Password);
        QVERIFY(prompt.contains(QStringLiteral("<b>~/.ssh/id</b>"))); // the host's text is shown, not interpreted
        with([](QDialog& dialog, QLineEdit&) { dialog.reject(); });
        QVERIFY(!answer.has_value());
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
    return test::runTests<RunsTest>(argc, argv);
}

#include "runs_test.moc"
