// SPDX-License-Identifier: GPL-3.0-or-later
// What the next start has again: window, plans, question and comparison of the last session, and what a crash left.
#include "app/desktop/dialogs/trace_dialog.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/card_stack.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/desktop/window_files.h"
#include "app/models/plan/plan_journal.h"
#include "app/models/shared/text.h"
#include "app/view/compare/published.h"
#include "app/view/plan/edits.h"
#include "core/base/paths.h"
#include "core/plan/fields.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QStatusBar>
#include <QTableView>
#include <QTest>

#include <sys/stat.h>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
QString plan(const QString& name)
{
    return test::Home::the().write(name, test::clusterPlan());
}
} // namespace

class SessionTest : public QObject {
    Q_OBJECT
private slots:
    void init() { Session().save(); } // each starts with none

    void anOverviewThatWasTakenAwayStaysAway()
    {
        MainWindow::Options withSession = test::WindowFixture::options();
        withSession.session = true;
        const Presets presets;
        {
            test::FreshWindow window(presets, withSession);
            window.show();
            QVERIFY(window.openPlan(plan(QStringLiteral("overview.plan.json")).toStdString()));
            QVERIFY(QTest::qWaitFor([&] { return window.document().isAnswered(); }, test::kPatience));
            window.planPage().timeline().setFocus();
            QTest::keyClick(&window.planPage().timeline(), Qt::Key_O);
            QVERIFY(!window.planPage().timeline().hasOverview());
            TraceDialog& kernels = showKernels(window);
            kernels.findChild<TimelineView*>(QStringLiteral("predictedKernels"))->setOverview(false);
            QVERIFY(kernels.close());
            QVERIFY(window.close());
        }
        test::FreshWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        QVERIFY(!window.planPage().timeline().hasOverview());
        QVERIFY(window.openPlan(plan(QStringLiteral("another.plan.json")).toStdString()));
        QVERIFY(!window.planPage().timeline().hasOverview());
        TraceDialog& kernels = showKernels(window);
        QVERIFY(!kernels.findChild<TimelineView*>(QStringLiteral("predictedKernels"))->hasOverview());
        QVERIFY(kernels.findChild<TimelineView*>(QStringLiteral("measuredKernels"))->hasOverview());
        window.restoreDefaultLayout();
        QVERIFY(window.planPage().timeline().hasOverview());
        QVERIFY(kernels.findChild<TimelineView*>(QStringLiteral("predictedKernels"))->hasOverview());
    }

    // Where the timeline of a plan was looked at, its marks and the picture that was on show.
    void aTimelineComesBackWhereItStood()
    {
        MainWindow::Options withSession = test::WindowFixture::options();
        withSession.session = true;
        withSession.journal = test::Home::the().path(QStringLiteral("journal5")).toStdString();
        const Presets presets;
        const QString marked = plan(QStringLiteral("marked.plan.json")),
                      other = plan(QStringLiteral("other.plan.json"));
        std::pair<double, double> part;
        std::vector<double> marks;
        {
            test::FreshWindow window(presets, withSession);
            window.show();
            QVERIFY(window.openPlan(other.toStdString()));
            QVERIFY(window.openPlan(marked.toStdString()));
            QVERIFY(QTest::qWaitFor([&] { return window.document().isAnswered(); }, test::kPatience));
            TimelineView& timeline = window.planPage().timeline();
            timeline.setFocus();
            for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_M, Qt::Key_W, Qt::Key_W})
                QTest::keyClick(&timeline, key);
            part = {timeline.window().begin(), timeline.window().end()};
            marks = timeline.marks();
            QVERIFY(!timeline.window().isFit());
            QCOMPARE(marks.size(), std::size_t(1));
            window.planPage().findChild<CardStack*>(QStringLiteral("plan.when"))->setCurrent(1);
            QVERIFY(window.close());
        }
        test::FreshWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        QCOMPARE(fromUtf8(window.document().file().string()), marked);
        QVERIFY(QTest::qWaitFor([&] { return window.document().isAnswered(); }, test::kPatience));
        const TimelineView& timeline = window.planPage().timeline();
        QTRY_COMPARE(timeline.marks(), marks);
        QCOMPARE(timeline.window().begin(), part.first);
        QCOMPARE(timeline.window().end(), part.second);
        QCOMPARE(window.planPage().findChild<CardStack*>(QStringLiteral("plan.when"))->current(), 1);
        window.plans().setCurrent(0);
        QVERIFY(QTest::qWaitFor([&] { return window.document().isAnswered(); }, test::kPatience));
        QVERIFY(window.planPage().timeline().marks().empty() && window.planPage().timeline().window().isFit());
        window.restoreDefaultLayout();
        QCOMPARE(window.planPage().findChild<CardStack*>(QStringLiteral("plan.when"))->current(), 0);
        QVERIFY(window.close());
    }

    void sessionComesBack()
    {
        const QString file = test::Home::the().write(QStringLiteral("session.plan.json"), test::clusterPlan());
        MainWindow::Options withSession = test::WindowFixture::options();
        withSession.session = true;
        const Presets presets;
        {
            test::FreshWindow window(presets, withSession);
            window.show();
            QVERIFY(window.openPlan(file.toStdString()));
            window.setTheme(ThemeChoice::dark);
            window.setUiZoom(150);
            window.showPage(QStringLiteral("history"));
            QVERIFY(window.close());
        }
        setZoom(100); // a program that starts anew
        test::FreshWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        // All of it is as large as it was, and as after a zoom by hand.
        const double points = QApplication::font().pointSizeF();
        QCOMPARE(zoom(), 150);
        QVERIFY(std::abs(points - 13.5) < 0.01);
        for (const QWidget* widget : {static_cast<const QWidget*>(window.menuBar()),
                 window.findChild<const QWidget*>(QStringLiteral("layout.tp")),
                 static_cast<const QWidget*>(window.statusBar())})
            QVERIFY2(std::abs(widget->font().pointSizeF() - points) < 0.01,
                qPrintable(QStringLiteral("%1 has %2").arg(widget->objectName()).arg(widget->font().pointSizeF())));
        window.showPage(QStringLiteral("plan"));
        int smaller = 0; // captions are half a point smaller, at 100 %
        for (const QLabel* label : window.planPage().findChildren<QLabel*>()) {
            if (label->isVisible() && label->property("fourfoldPoints") == QVariant(-0.5))
                smaller += std::abs(label->font().pointSizeF() - 12.75) < 0.01 ? 1 : -1000;
        }
        QVERIFY2(smaller > 5, qPrintable(QString::number(smaller)));
        window.showPage(QStringLiteral("history"));
        window.setUiZoom(100);
        QCOMPARE(fromUtf8(window.document().file().string()), file);
        QCOMPARE(window.page(), QStringLiteral("history"));
        QVERIFY(themeOf(&window).dark);
        window.setTheme(ThemeChoice::light);
        QVERIFY(window.close()); // the next session is at 100 %
    }

    void openPlansComeBack()
    {
        MainWindow::Options withSession = test::WindowFixture::options();
        withSession.session = true;
        withSession.journal = test::Home::the().path(QStringLiteral("journal2")).toStdString();
        const Presets presets;
        {
            test::FreshWindow window(presets, withSession);
            window.show();
            QVERIFY(window.openPlan(plan(QStringLiteral("first.plan.json")).toStdString()));
            QVERIFY(window.openPlan(plan(QStringLiteral("second.plan.json")).toStdString()));
            window.plans().setCurrent(0);
            window.setUiZoom(120);
            auto* split = window.findChild<QSplitter*>(QStringLiteral("plan.rows"));
            split->setSizes({100, 500});
            QVERIFY(window.close());
        }
        QFile::remove(test::Home::the().path(QStringLiteral("second.plan.json"))); // gone since: no reason to complain
        test::FreshWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        QCOMPARE(window.plans().count(), 1);
        QVERIFY(window.document().file().filename() == "first.plan.json");
        QCOMPARE(zoom(), 120);
        window.restoreDefaultLayout();
        QCOMPARE(zoom(), 100);
        QTest::qWait(10);
        const QList<int> sizes = window.findChild<QSplitter*>(QStringLiteral("plan.rows"))->sizes();
        QVERIFY2(std::abs(sizes[0] * 11 - sizes[1] * 10) < 80 * 10, "the splitter is back at its shares");
        QVERIFY(window.close());
    }

    void aSessionIsStoredBeforeItsEnd()
    {
        MainWindow::Options withSession = test::WindowFixture::options();
        withSession.session = true;
        withSession.journal = test::Home::the().path(QStringLiteral("journal4")).toStdString();
        const Presets presets;
        test::FreshWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        QVERIFY(window.openPlan(plan(QStringLiteral("third.plan.json")).toStdString()));
        QVERIFY(window.openPlan(plan(QStringLiteral("fourth.plan.json")).toStdString()));
        window.showPage(QStringLiteral("history"));
        // Whatever ends the program now, the next start has them.
        QTRY_VERIFY(Session::load().openPlans.join(QLatin1Char(' ')).contains(QLatin1String("fourth.plan.json")));
        QTRY_COMPARE(Session::load().page, QStringLiteral("history"));
        QVERIFY(Session::load().openPlans.join(QLatin1Char(' ')).contains(QLatin1String("third.plan.json")));
        QVERIFY(window.close());
    }

    // Nobody writes into a pipe in the place of the settings, and nobody reads millions of them before a window opens.
    void settingsThatAreNoneKeepNobodyWaiting()
    {
        Session().save();
        const std::filesystem::path file = config_folder() / "desktop.ini";
        QVERIFY(std::filesystem::remove(file));
        QCOMPARE(::mkfifo(file.c_str(), 0600), 0);
        QCOMPARE(Session::load().zoom, 100);
        Session().save();
        QVERIFY(std::filesystem::is_fifo(file));
        QVERIFY(std::filesystem::remove(file));
        {
            QFile large(exactText(file.string()));
            QVERIFY(large.open(QIODevice::WriteOnly));
            large.write("[view]\nzoom=150\n");
            large.write(QByteArray(5 << 20, '\n'));
        }
        QCOMPARE(Session::load().zoom, 100);
        QVERIFY(std::filesystem::remove(file));
    }

    void searchAndComparisonComeBack()
    {
        const QString file = test::Home::the().write(QStringLiteral("asked.plan.json"), test::clusterPlan());
        MainWindow::Options withSession = test::WindowFixture::options();
        withSession.session = true;
        withSession.journal = test::Home::the().path(QStringLiteral("journal3")).toStdString();
        const Presets presets;
        const auto names = [](MainWindow& window) {
            QStringList all;
            for (const CompareEntry& entry : window.comparePage().model().entries())
                all << entry.name;
            return all;
        };
        const auto seriesOf = [](MainWindow& window) { // in the list, behind the entries
            QStringList all;
            const auto* list = window.findChild<QListWidget*>(QStringLiteral("compareList"));
            for (int row = 0; row < list->count(); ++row) {
                if (list->item(row)->text().startsWith(QStringLiteral("Series")))
                    all << list->item(row)->text();
            }
            return all;
        };
        QStringList before, series;
        {
            test::FreshWindow window(presets, withSession);
            window.show();
            window.activateWindow(); // for the keys of the table
            QVERIFY(QTest::qWaitForWindowActive(&window));
            QVERIFY(window.openPlan(file.toStdString()));
            QTRY_VERIFY_WITH_TIMEOUT(window.document().isAnswered(), test::kPatience);
            window.showPage(QStringLiteral("search"));
            QVERIFY(
                test::choose(*window.findChild<QComboBox*>(QStringLiteral("objective")), QStringLiteral("Step time")));
            QTest::keyClicks(window.findChild<QLineEdit*>(QStringLiteral("constraint")), QStringLiteral("tp <= 4"));
            QTest::keyClicks(window.findChild<QLineEdit*>(QStringLiteral("resultFilter")), QStringLiteral("pp == 1"));
            test::type(*window.findChild<QSpinBox*>(QStringLiteral("searchGpus")), 32);
            test::click(*window.findChild<QPushButton*>(QStringLiteral("search")));
            QTRY_VERIFY_WITH_TIMEOUT(!window.searchPage().service().isRunning(), test::kPatience);
            auto* results = window.findChild<QTableView*>(QStringLiteral("results"));
            QVERIFY(results->model()->rowCount() > 1);
            results->setCurrentIndex(results->model()->index(1, 0));
            QTest::keyClick(results, Qt::Key_P);
            QTest::keyClick(results, Qt::Key_C); // the found layout is beside the plan
            window.showPage(QStringLiteral("history"));
            QVERIFY(
                window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
            test::click(*window.findChild<QPushButton*>(QStringLiteral("compareRuns"))); // and the selected run
            const Expected<MeasuredTable> table
                = view::read_table(FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv", presets);
            QVERIFY(table.has_value());
            window.comparePage().addRows(*table, {2});
            window.comparePage().addSeries(*table);
            series = seriesOf(window);
            QVERIFY(!series.isEmpty());
            test::click(*window.findChild<QCheckBox*>(QStringLiteral("differencesOnly")));
            before = names(window);
            QVERIFY2(before.size() == 4, qPrintable(before.join(QLatin1Char('\n'))));
            window.findChild<QComboBox*>(QStringLiteral("compareReference"))->setCurrentIndex(2);
            QVERIFY(window.close());
        }
        test::FreshWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        QTRY_VERIFY_WITH_TIMEOUT(window.document().isAnswered(), test::kPatience);
        QCOMPARE(window.page(), QStringLiteral("compare"));
        QTRY_COMPARE(names(window), before);
        QCOMPARE(window.comparePage().model().reference(), 2);
        QCOMPARE(seriesOf(window), series);
        CompareCharts& charts = window.comparePage().charts();
        charts.showScaling();
        const auto hasSeries = [&] {
            const std::vector<std::vector<Cell>> rows = charts.scaling().table().rows;
            return std::any_of(rows.begin(), rows.end(), [](const std::vector<Cell>& row) {
                return std::get<std::string>(row.front()).find("best measured") != std::string::npos;
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(hasSeries(), test::kPatience);
        auto* list = window.findChild<QListWidget*>(QStringLiteral("compareList"));
        while (!seriesOf(window).isEmpty()) { // and can be taken away
            list->setCurrentRow(list->count() - 1);
            test::click(*window.findChild<QPushButton*>(QStringLiteral("compareRemove")));
        }
        QTRY_VERIFY_WITH_TIMEOUT(!hasSeries(), test::kPatience);
        QTRY_COMPARE(names(window), before);
        QVERIFY(window.findChild<QCheckBox*>(QStringLiteral("differencesOnly"))->isChecked());
        for (const CompareEntry& entry : window.comparePage().model().entries())
            QVERIFY(entry.prediction && entry.prediction->tps_per_gpu);
        window.showPage(QStringLiteral("search"));
        QCOMPARE(window.findChild<QLineEdit*>(QStringLiteral("constraint"))->text(), QStringLiteral("tp <= 4"));
        QCOMPARE(window.findChild<QLineEdit*>(QStringLiteral("resultFilter"))->text(), QStringLiteral("pp == 1"));
        QCOMPARE(window.findChild<QSpinBox*>(QStringLiteral("searchGpus"))->value(), 32);
        QVERIFY(window.findChild<QComboBox*>(QStringLiteral("objective"))
                    ->currentText()
                    .contains(QStringLiteral("Step time")));
        QVERIFY(window.findChild<QLabel*>(QStringLiteral("searchInvitation"))->isVisible()); // results are not kept
        QVERIFY(window.close());
    }

    void whatACrashLeftIsRestored()
    {
        const QString file = plan(QStringLiteral("crashed.plan.json"));
        const std::filesystem::path folder = test::Home::the().path(QStringLiteral("journal")).toStdString();
        const Presets presets;
        {
            PlanTabs tabs(presets);
            PlanJournal journal(tabs, folder);
            QVERIFY(tabs.current().open(file.toStdString()));
            journal.flush();
            QVERIFY(!std::filesystem::exists(folder) || std::filesystem::is_empty(folder)); // nothing to lose yet
            tabs.current().setValue("training.micro_batch", 4, QStringLiteral("Change"));
            tabs.add().reset(*parse_plan(test::clusterPlan().toStdString(), ""));
            tabs.document(1).markUnsaved();
            Plan second = *parse_plan(test::clusterPlan().toStdString(), "");
            second.document["name"] = "the second untitled one";
            PlanDocument& untitled = tabs.add();
            untitled.reset(second);
            untitled.markUnsaved();
            QTRY_VERIFY(std::filesystem::exists(folder) && !std::filesystem::is_empty(folder));
            journal.flush();
            // Another program leaves it alone as long as this one lives.
            QVERIFY(PlanJournal(tabs, folder).takeLeftovers().empty());
        } // The program dies: no discard.
        {
            // One that dies before it has written them down itself takes nothing away.
            PlanTabs tabs(presets);
            PlanJournal unlucky(tabs, folder);
            QCOMPARE(unlucky.takeLeftovers().size(), std::size_t(3));
            PlanJournal late(tabs, folder);
            QVERIFY(late.takeLeftovers().empty());
        }
        MainWindow::Options withJournal = test::WindowFixture::options();
        withJournal.session = true;
        withJournal.journal = folder;
        test::FreshWindow window(presets, withJournal);
        window.show();
        window.openStartPlan();
        QVERIFY(window.banner().isVisible());
        QVERIFY2(window.banner().text().contains(QStringLiteral("3 plans")), qPrintable(window.banner().text()));
        QCOMPARE(window.plans().count(), 3); // none in the place of another
        int found = 0;
        for (int i = 0; i < window.plans().count(); ++i) {
            PlanDocument& document = window.plans().document(i);
            if (!document.file().empty() && value_at(document.plan().document, "training.micro_batch") == Json(4)) {
                ++found;
                QVERIFY(document.isDirty());
                document.undoStack().undo(); // back to the file
                QVERIFY(value_at(document.plan().document, "training.micro_batch") == Json(1));
                document.undoStack().redo();
            }
        }
        QCOMPARE(found, 1);
        test::DialogWatch watch([](QMessageBox& box) { box.button(QMessageBox::Discard)->click(); });
        QVERIFY(window.close());
        QVERIFY(std::filesystem::is_empty(folder)); // ended in order
    }
};

int main(int argc, char** argv)
{
    return test::runTests<SessionTest>(argc, argv);
}

#include "session_test.moc"
