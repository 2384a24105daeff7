// SPDX-License-Identifier: GPL-3.0-or-later
// Runs from the window through the real launcher and agent, with a trainer that trains nothing.
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/runs/cluster_dialog.h"
#include "app/desktop/pages/runs/node_report.h"
#include "app/desktop/pages/runs/queue_panel.h"
#include "app/desktop/pages/runs/run_details.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/pages/runs/sweep_dialog.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/models/plan/preset_model.h"
#include "app/models/shared/text.h"
#include "app/view/history/history_access.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/hands.h"
#include "tests/gui/runs_fixture.h"

#include "core/history/store.h"
#include "runner/queue/queue_worker.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QTabBar>
#include <QTableView>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

using test::kPatience;
using Fixture = test::RunsFixture;

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
        QCOMPARE(w.live().run().state(), RunState::ok);
        QCOMPARE(static_cast<int>(w.live().run().throughput().count()), 40);
        QCOMPARE(w.live().run().step(), 40);
        QVERIFY(w.live().run().measured_throughput().has_value());
        QVERIFY(w.live().log().rowCount() > 2);
        QCOMPARE(w.runs().figures()[0]->figure().value, std::string("Done"));
        QVERIFY(w.button("start")->isEnabled());

        w.window.showPage(QStringLiteral("history"));
        const HistoryModel& history = w.window.historyPage().model();
        const int row = history.rowOf(w.live().id());
        QVERIFY(row >= 0);
        QVERIFY(!history.index(row, HistoryModel::predicted_tps).data().toString().isEmpty());
        QVERIFY(!history.index(row, HistoryModel::measured_tps).data().toString().isEmpty());
        QVERIFY(!history.index(row, HistoryModel::tps_error).data().toString().isEmpty());
        const QString csv = test::Home::the().path(QStringLiteral("history.csv"));
        QVERIFY(writeTable(history.list().table(), csv));
        QVERIFY(test::readFile(csv).contains(w.live().id().toUtf8()));
    }

    // Hosts, ranks and the trainer's command are read before anything happens, and nothing happens by it.
    void whatARunDoesIsShownBeforeIt()
    {
        Fixture w(test::tinyPlan(40, 30));
        QVERIFY2(w.runs().form().canStart(), qPrintable(w.runs().form().refusal()));
        QString said;
        const test::WhenDialog<QDialog> when([&said](QDialog& dialog) {
            said = dialog.findChild<QPlainTextEdit*>()->toPlainText();
            dialog.reject();
        });
        test::click(*w.button("preview"));
        QVERIFY(when.came());
        for (const char* part : {"fake-trainer", "ranks 0 1", "stores: "})
            QVERIFY2(
                said.contains(QLatin1String(part)), qPrintable(QString::fromLatin1(part) + QLatin1Char('\n') + said));
        QVERIFY(!w.window.controller().isRunning() && w.live().id().isEmpty());
    }

    // Queued runs are other programs' from the first moment on, and are seen here all the same.
    void queuedRunsGoOnByThemselves()
    {
        const auto usual = HistoryStore::default_file(); // theirs
        std::filesystem::create_directories(usual.parent_path());
        std::filesystem::remove(usual);
        Fixture w(test::tinyPlan(30, 40));
        QVERIFY(bool(HistoryStore::open(test::WindowFixture::historyFile())));
        std::filesystem::create_symlink(test::WindowFixture::historyFile(), usual);
        auto* tabs = w.runs().details().findChild<QTabBar*>();
        QVERIFY(!tabs->isTabVisible(RunDetails::queue));
        QVERIFY(w.button("queueRun")->isEnabled());
        for (int i = 0; i < 2; ++i)
            QTest::mouseClick(w.button("queueRun"), Qt::LeftButton);
        QCOMPARE(tabs->currentIndex(), int(RunDetails::queue));
        auto* table = w.child<QTableView>("runQueue");
        QCOMPARE(table->model()->rowCount(), 2);
        const auto cell = [&](int row, int column) { return table->model()->index(row, column).data().toString(); };
        // The second can be taken out as long as it waits.
        QVERIFY(QTest::qWaitFor([&] { return cell(0, 1) == QStringLiteral("running"); }, kPatience));
        table->selectRow(1);
        QVERIFY(w.button("queueRemove")->isEnabled() && !w.button("queueShow")->isEnabled());
        QTest::mouseClick(w.button("queueRemove"), Qt::LeftButton);
        QCOMPARE(table->model()->rowCount(), 1);
        table->selectRow(0);
        QVERIFY(!w.button("queueRemove")->isEnabled());
        QTest::mouseClick(w.button("queueShow"), Qt::LeftButton);
        QVERIFY(w.window.controller().isFollowing());
        QVERIFY(w.ends());
        QCOMPARE(w.live().run().state(), RunState::ok);
        QCOMPARE(static_cast<int>(w.live().run().throughput().count()), 30);
        QVERIFY(QTest::qWaitFor([&] { return cell(0, 1) == QStringLiteral("ok"); }, kPatience));
        QTest::mouseClick(w.button("queueClear"), Qt::LeftButton);
        QVERIFY(!tabs->isTabVisible(RunDetails::queue));
        QVERIFY(QTest::qWaitFor([] { return !RunQueue().has_giver(); }, kPatience));
    }

    void stopEndsTheRun()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > 0; }, kPatience));
        QCOMPARE(w.stop(false), 1); // asked, and let run
        QVERIFY(w.window.controller().isRunning() && !w.window.controller().isStopping());
        {
            const test::DialogWatch watch(
                [](QMessageBox& box) { QCOMPARE(box.objectName(), QStringLiteral("stopAsked")); });
            QVERIFY(test::clickMenuBar(w.window, {QStringLiteral("Run"), QStringLiteral("Stop the run")}));
            QTRY_COMPARE(watch.seen(), 1); // the menu asks as well; Escape lets it run
        }
        QVERIFY(w.window.controller().isRunning() && !w.window.controller().isStopping());
        QCOMPARE(w.stop(), 1);
        QVERIFY(!w.button("stop")->isEnabled());
        QVERIFY(w.ends());
        QCOMPARE(w.live().run().state(), RunState::cancelled);
        w.window.showPage(QStringLiteral("history"));
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
        QCOMPARE(w.live().run().state(), RunState::fail);
        const QString said = fromUtf8(w.live().run().state_text());
        QVERIFY2(said.contains(QStringLiteral("1")), qPrintable(said));
        QCOMPARE(w.runs().figures()[0]->figure().value, std::string("Failed"));
    }

    void closingWhileRunningAsks()
    {
        Fixture w(test::tinyPlan(100'000, 20));
        QTest::mouseClick(w.button("start"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > 0; }, kPatience));
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
        QCOMPARE(static_cast<int>(w.live().run().memory_over_ranks().least.count()), 30);
        QCOMPARE(w.live().run().memory_over_ranks().least.last().second, 0.125);
        QCOMPARE(w.live().run().memory_over_ranks().median.last().second, 0.1875);
        QCOMPARE(w.live().run().memory_over_ranks().greatest.last().second, 0.25);
        QCOMPARE(
            w.live().run().rank_name(w.live().run().memory_over_ranks().worst_rank), std::string("rank 1 on node-b"));
        QVERIFY(w.live().run().throughput_over_ranks().least.last().second < w.live().run().throughput().last().second);
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
        QCOMPARE(w.live().run().state(), RunState::oom);
        const QString text = w.runs().details().failureText();
        for (const char* part : {"Rank 1 failed first, on ", "tp 1", "What happened: out of memory in layer 3",
                 "Last collective", "rank1.log"})
            QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
        auto* live = w.runs().findChild<QPlainTextEdit*>(QStringLiteral("failureLog"));
        QVERIFY(live->toPlainText().contains(QStringLiteral("something went wrong")));
        // Whose output one wants to read next.
        w.runs().details().showTab(RunDetails::output);
        QTRY_COMPARE(w.child<QComboBox>("outputRank")->currentText(), QStringLiteral("rank 1 on node-b"));
        QTRY_VERIFY(w.child<QPlainTextEdit>("rankOutput")->toPlainText().contains(QStringLiteral("went wrong")));

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
        QVERIFY(QTest::qWaitFor([&] { return w.live().run().step() > 2; }, kPatience));
        const QString first = w.live().id();
        bool again = false;
        std::optional<test::DialogWatch> watch(std::in_place, [&](QMessageBox& box) {
            QCOMPARE(box.objectName(), QStringLiteral("restartRun"));
            QVERIFY(box.text().contains(QStringLiteral("of 100,000")));
            for (QAbstractButton* button : box.buttons()) {
                if (box.buttonRole(button) == (again ? QMessageBox::AcceptRole : QMessageBox::RejectRole))
                    button->click();
            }
        });
        QTest::mouseClick(w.button("restart"), Qt::LeftButton);
        QCOMPARE(watch->seen(), 1);
        QVERIFY(w.window.controller().isRunning() && !w.window.controller().isStopping()); // it was let run
        again = true;
        QTest::mouseClick(w.button("restart"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor(
            [&] { return !w.live().id().isEmpty() && w.live().id() != first && w.live().run().step() > 0; },
            kPatience));
        watch.reset(); // stopping has a question of its own
        QCOMPARE(w.stop(), 1);
        QVERIFY(w.ends());
        QVERIFY(view::stored_run(w.historyFile(), first.toStdString())->summary.state == RunState::cancelled);
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
        QVERIFY(!w.live().run().has_run());
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
        QCOMPARE(w.window.page(), QStringLiteral("plan"));
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
            const auto* said = dialog.findChild<QLabel*>(QStringLiteral("sweepSaid"));
            QCOMPARE(said->property("role").toString(), QStringLiteral("bad"));
            const int width = dialog.minimumSizeHint().width();
            layouts->setPlainText(QStringLiteral("tp,cp,pp,micro_batch\n") + QString(300, QLatin1Char('x')));
            QVERIFY(dialog.minimumSizeHint().width() <= width); // a word without end does not widen it
            layouts->setPlainText(QStringLiteral("tp,cp,pp,micro_batch\n2,1,1,1\n1,1,1,1\n8,1,1,1\n"));
            QCOMPARE(said->property("role").toString(), QStringLiteral("normal"));
            dialog.findChild<QLineEdit*>(QStringLiteral("sweepGpuCounts"))->setText(QStringLiteral("2"));
            QTest::mouseClick(start, Qt::LeftButton);
        });
        QSignalSpy moved(&w.window.controller(), &RunController::sweepMoved);
        HeatMap& map = w.runs().details().sweepMap();
        QSet<int> ran; // the rows whose cell was shown as the one that runs
        QObject::connect(&w.window.controller(), &RunController::sweepMoved, &map, [&] {
            for (int row = 0; row < 3; ++row) {
                const HeatCell* cell = map.grid().at(row, 0);
                if (cell && cell->text == QStringLiteral("running"))
                    ran << row;
            }
        });
        QTest::mouseClick(w.button("measureTable"), Qt::LeftButton);
        QVERIFY(!w.button("restart")->isEnabled());
        QVERIFY(w.ends());
        QVERIFY(moved.count() >= 2);
        QCOMPARE(ran, (QSet<int>{0, 1, 2}));
        QVERIFY2(map.subtitle().contains(QStringLiteral("1 without a layout")), qPrintable(map.subtitle()));
        const HeatGrid& grid = map.grid();
        QCOMPARE(grid.rows.size(), 3);
        QVERIFY(grid.at(0, 0)->value.has_value());
        QVERIFY(grid.at(1, 0)->value.has_value());
        QCOMPARE(grid.at(2, 0)->state, HeatCell::State::impossible);
        QCOMPARE(w.runs().details().sweepMap().table().rows.size(), std::size_t(3));
        const auto* tabs = w.runs().details().findChild<QTabBar*>(QStringLiteral("cardSwitch"));
        QCOMPARE(tabs->tabRect(0).left(), 0); // the new tab has made room for itself
        QVERIFY(tabs->tabRect(RunDetails::sweep).right() < tabs->width());
        auto* shown = w.child<QComboBox>("measuredShow");
        QTRY_VERIFY(shown->isVisible());
        QTest::qWait(50); // laid out
        for (const test::DrawnText& one : test::drawnTexts(*shown))
            QVERIFY2(!one.text.contains(QChar(0x2026)), qPrintable(one.text));
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
