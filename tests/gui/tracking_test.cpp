// SPDX-License-Identifier: GPL-3.0-or-later
// Many runs at once: their curves laid over each other, what a row's menu does with one, the columns of the table, a
// plan's name, and what the desktop is told when a run ends.
#include "app/desktop/dialogs/plans_dialog.h"
#include "app/desktop/notify.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/history/run_curves_view.h"
#include "app/desktop/pages/plan/plan_workspace.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/run_signs.h"
#include "app/desktop/widgets/charts/curves_chart.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/table_views.h"
#include "app/models/runs/live_run.h"
#include "app/models/runs/run_controller.h"
#include "app/models/shared/table_model.h"
#include "app/models/shared/text.h"
#include "app/view/history/history_access.h"
#include "core/predict/prediction.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDBusConnection>
#include <QDateTime>
#include <QFile>
#include <QHeaderView>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QProcess>
#include <QSlider>
#include <QStandardPaths>
#include <QTabBar>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;
using view::CurveMetric;

namespace {
constexpr int kSteps = 50;

// Three runs of one plan with their own losses, the last of which told of a checkpoint.
struct Fixture : test::WindowFixture {
    Fixture()
    {
        QFile::remove(QString::fromStdString(historyFile().string()));
        auto store = HistoryStore::open(historyFile());
        const Plan plan = *parse_plan(test::tinyPlan(kSteps, 1).toStdString(), "tiny");
        const ResolvedPlan resolved = *resolve(plan, presets);
        for (int run = 0; run < 3; ++run) {
            const NewRun stored{"01RUN00000000000000000000" + std::to_string(run), "tiny", "local", "fourfold",
                plan_hash(resolved), layout_hash(resolved), to_json(resolved, PresetStyle::inlined),
                to_json(predict(resolved)), {}, {}, Json::object()};
            std::vector<std::string> lines;
            for (int step = 1; step <= kSteps; ++step) {
                lines.push_back(Json{{"seq", step - 1}, {"time", "2026-01-01T00:00:00.000Z"}, {"rank", 0},
                    {"event", "step"}, {"step", step}, {"loss", 3.0 + run}, {"tps_per_gpu", 100.0},
                    {"step_time_s",
                        0.5}}.dump());
            }
            if (run == 2)
                lines.push_back(Json{{"seq", kSteps}, {"time", "2026-01-01T00:00:01.000Z"}, {"rank", 0},
                    {"event", "checkpoint"}, {"step", kSteps}, {"path", "/scratch/saves/step-50"}}
                                    .dump());
            made = store && store->create_run(stored) && store->append_events(stored.id, "events", lines)
                && store->set_state(stored.id, RunState::ok) && (run == 0 || made);
        }
        window.show();
        window.showPage(QStringLiteral("history"));
        QTest::keyClick(&window, Qt::Key_Shift); // see history_test.cpp
    }
    HistoryPage& page() { return window.historyPage(); }
    DataTable* table() { return child<DataTable>("history"); }
    CurvesChart& loss() { return page().curves().chart(CurveMetric::loss); }
    void layOver()
    {
        page().showView(HistoryPage::View::curves);
        table()->selectAll();
    }
    void select(int run)
    {
        table()->selectRow(page().model().rowOf(QStringLiteral("01RUN00000000000000000000%1").arg(run)));
    }
    bool made = false;
};

// Opens the menu of a row or heading where it was asked for and clicks an entry; the entries that there were.
QStringList clickContextMenu(QWidget& widget, const QPoint& at, const QString& entry)
{
    QStringList seen;
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, [&] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        if (!menu)
            return;
        look.stop();
        QAction* wanted = nullptr;
        for (QAction* action : menu->actions()) {
            seen << action->text() + (action->isEnabled() ? QString() : QStringLiteral(" (off)"));
            wanted = action->text().startsWith(entry) ? action : wanted;
        }
        if (wanted && wanted->isEnabled())
            QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(wanted).center());
        else
            menu->close();
    });
    look.start(10);
    QContextMenuEvent event(QContextMenuEvent::Keyboard, at, widget.mapToGlobal(at));
    QApplication::sendEvent(&widget, &event);
    return seen;
}

// A notification service as desktops have it.
class Notifications : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")
public:
    QStringList seen;
public slots:
    uint Notify(const QString&, uint, const QString&, const QString& title, const QString& text, const QStringList&,
        const QVariantMap&, int)
    {
        seen << title + QLatin1Char('|') + text;
        return 1;
    }
};
} // namespace

class TrackingTest : public QObject {
    Q_OBJECT
private slots:
    void selectedRunsLieOverEachOther()
    {
        Fixture w;
        QVERIFY(w.made);
        w.layOver();
        QTRY_COMPARE_WITH_TIMEOUT(w.loss().picture().lines.size(), std::size_t(3), kPatience);
        QCOMPARE(w.loss().picture().x.high, double(kSteps));
        QVERIFY(w.page().curves().chart(CurveMetric::throughput).picture().forecast); // one plan, one prediction
        const QStringList reading = w.loss().readingAt(10);
        QCOMPARE(reading.size(), 4);
        QVERIFY2(reading[1].startsWith(QStringLiteral("5.000")), qPrintable(reading[1])); // the greatest first
        QCOMPARE(w.loss().table().rows.size(), std::size_t(3 * kSteps));
        // Out of the legend, back, and only what is selected.
        auto* list = w.child<QListWidget>("curveRuns");
        QCOMPARE(list->count(), 3);
        list->item(0)->setCheckState(Qt::Unchecked);
        QCOMPARE(w.loss().picture().lines.size(), std::size_t(2));
        list->item(0)->setCheckState(Qt::Checked);
        w.select(1);
        QTRY_COMPARE(w.loss().picture().lines.size(), std::size_t(1));
        QCOMPARE(w.loss().picture().lines[0].points.front().second, 4.0);
        // A live step of it.
        w.page().curves().takeEvents(
            "01RUN000000000000000000001", {Json{{"event", "step"}, {"step", kSteps + 1}, {"loss", 1.0}}});
        QCOMPARE(w.loss().picture().x.high, double(kSteps + 1));
    }

    void axisSmoothingAndGroupsAreChosenAndKept()
    {
        Fixture w;
        w.layOver();
        QTRY_COMPARE_WITH_TIMEOUT(w.loss().picture().lines.size(), std::size_t(3), kPatience);
        QVERIFY(test::choose(*w.child<QComboBox>("curveAxis"), QStringLiteral("Tokens")));
        QVERIFY(w.loss().picture().x.high > kSteps);
        w.child<QSlider>("curveSmoothing")->setValue(90);
        QVERIFY(!w.loss().picture().lines[0].raw.empty());
        QVERIFY(test::choose(*w.child<QComboBox>("curveGroups"), QStringLiteral("plan")));
        QCOMPARE(w.loss().picture().lines.size(), std::size_t(1));
        const view::CurveLine& group = w.loss().picture().lines[0];
        QCOMPARE(group.runs, std::size_t(3));
        QVERIFY(std::abs(group.low.front().second - 3) < 1e-6 && std::abs(group.high.front().second - 5) < 1e-6);

        const QVariantMap kept = w.page().state();
        Fixture again;
        again.page().restore(kept);
        again.table()->selectAll();
        QTRY_COMPARE_WITH_TIMEOUT(again.page().curves().curves().count(), std::size_t(3), kPatience);
        QCOMPARE(again.page().state(), kept);
        QCOMPARE(again.loss().picture().lines.size(), std::size_t(1));
    }

    void aPartOfTheAxisIsDraggedAndLetGoOf()
    {
        Fixture w;
        w.layOver();
        QTRY_COMPARE_WITH_TIMEOUT(w.loss().picture().lines.size(), std::size_t(3), kPatience);
        w.loss().grab(); // the plot has a place
        const int middle = w.loss().height() / 2;
        QTest::mousePress(&w.loss(), Qt::LeftButton, {}, {w.loss().width() / 3, middle});
        QTest::mouseMove(&w.loss(), {w.loss().width() * 2 / 3, middle});
        QTest::mouseRelease(&w.loss(), Qt::LeftButton, {}, {w.loss().width() * 2 / 3, middle});
        const view::CurveRange part = w.loss().picture().x;
        QVERIFY(part.low > 5 && part.high < kSteps - 5);
        QCOMPARE(w.page().curves().chart(CurveMetric::throughput).picture().x, part); // in all charts
        w.loss().setFocus();
        w.loss().setCursor({});
        QTest::keyClick(&w.loss(), Qt::Key_Escape);
        QCOMPARE(w.loss().picture().x.high, double(kSteps));
        QTest::keyClick(&w.loss(), Qt::Key_Right);
        QVERIFY(w.loss().accessibleDescription().contains(QStringLiteral("tiny")));
    }

    void aRowsMenuOpensRunsAgainAndResumes()
    {
        Fixture w;
        w.select(0);
        const int plans = w.window.plans().count();
        const QPoint at = w.table()->visualRect(w.table()->currentIndex()).center();
        const QStringList entries = clickContextMenu(*w.table(), at, QStringLiteral("Open its plan"));
        QVERIFY2(entries.contains(QStringLiteral("Resume from checkpoint\u2026 (off)")),
            qPrintable(entries.join(QLatin1Char(';'))));
        QCOMPARE(w.window.page(), QStringLiteral("plan"));
        QVERIFY(w.document().isValid());
        QCOMPARE(w.document().resolved()->training.seq_len,
            resolve(*parse_plan(test::tinyPlan(kSteps, 1).toStdString(), ""), w.presets)->training.seq_len);
        QVERIFY(w.window.plans().count() >= plans);

        w.window.showPage(QStringLiteral("history"));
        w.select(2);
        clickContextMenu(*w.table(), at, QStringLiteral("Resume"));
        QCOMPARE(w.window.page(), QStringLiteral("runs"));
        QCOMPARE(w.window.runsPage().form().target(), QStringLiteral("local"));
        QCOMPARE(w.document().resolved()->run.checkpoint.load, std::string("/scratch/saves"));
        QVERIFY(w.document().resolved()->run.checkpoint.from_last_good);
    }

    void columnsAreChosenOrderedAndKept()
    {
        Fixture w;
        QHeaderView* header = w.table()->horizontalHeader();
        w.select(0);
        clickContextMenu(*header, {5, 5}, QStringLiteral("Model"));
        QVERIFY(w.table()->isColumnHidden(HistoryModel::model));
        header->moveSection(header->visualIndex(HistoryModel::steps), 0);
        const QString copied = w.table()->selectionAsText();
        QVERIFY2(copied.startsWith(QStringLiteral("Steps\tRun\tState")), qPrintable(copied));
        const LayoutState kept = layoutOf(&w.window);
        {
            Fixture other;
            applyLayout(&other.window, kept);
            QVERIFY(other.table()->isColumnHidden(HistoryModel::model));
            QCOMPARE(other.table()->horizontalHeader()->visualIndex(HistoryModel::steps), 0);
        }
        resetLayout(&w.window);
        QVERIFY(!w.table()->isColumnHidden(HistoryModel::model));
        QCOMPARE(header->visualIndex(HistoryModel::steps), int(HistoryModel::steps));
    }

    // With what else belongs to it, over windows.
    void viewsOfATableAreKeptByName()
    {
        const QString name = QStringLiteral("Mine / yours & ours");
        {
            Fixture w;
            auto* filter = w.child<QLineEdit>("historyFilter");
            QHeaderView* header = w.table()->horizontalHeader();
            w.table()->setColumnHidden(HistoryModel::model, true);
            header->moveSection(header->visualIndex(HistoryModel::steps), 0);
            w.table()->sortByColumn(HistoryModel::name, Qt::DescendingOrder);
            filter->setText(QStringLiteral("tiny"));
            QVERIFY(viewsOf(*w.table()).isEmpty());
            QVERIFY(saveView(*w.table(), name));
        }
        Fixture w;
        QVERIFY(!w.table()->isColumnHidden(HistoryModel::model));
        QCOMPARE(viewsOf(*w.table()), QStringList{name});
        QVERIFY(!showView(*w.table(), QStringLiteral("another")));
        QMenu menu;
        addViews(menu, *w.table());
        QAction* entry = menu.actions().front()->menu()->actions().front();
        QCOMPARE(entry->text(), QStringLiteral("Mine / yours && ours"));
        entry->trigger();
        QVERIFY(w.table()->isColumnHidden(HistoryModel::model));
        QCOMPARE(w.table()->horizontalHeader()->visualIndex(HistoryModel::steps), 0);
        QCOMPARE(w.table()->horizontalHeader()->sortIndicatorSection(), int(HistoryModel::name));
        QCOMPARE(w.child<QLineEdit>("historyFilter")->text(), QStringLiteral("tiny"));
        QVERIFY(renameView(*w.table(), name, QStringLiteral("Theirs")));
        QCOMPARE(viewsOf(*w.table()), QStringList{QStringLiteral("Theirs")});
        QVERIFY(forgetView(*w.table(), QStringLiteral("Theirs")));
        QVERIFY(viewsOf(*w.table()).isEmpty());
    }

    // What the terminal saved has no widths; what neither knows is left out.
    void aViewOfTheTerminalOpensInTheWindow()
    {
        Fixture w;
        const view::SavedViews views(view::kRunsTable);
        QVERIFY(
            views.keep("There", {{"Steps", "Gone", "Run", "Measured TPS/GPU"}, {"Run"}, {}, "Steps", true, "tiny"}));
        const int width = w.table()->columnWidth(HistoryModel::measured_tps);
        QVERIFY(showView(*w.table(), QStringLiteral("There")));
        const QHeaderView* header = w.table()->horizontalHeader();
        QCOMPARE(header->visualIndex(HistoryModel::steps), 0);
        QCOMPARE(header->visualIndex(HistoryModel::measured_tps), 2);
        QVERIFY(w.table()->isColumnHidden(HistoryModel::name));
        QVERIFY(!w.table()->isColumnHidden(HistoryModel::model));
        QVERIFY(w.table()->columnWidth(HistoryModel::measured_tps) >= width);
        QCOMPARE(header->sortIndicatorSection(), int(HistoryModel::steps));
        QCOMPARE(header->sortIndicatorOrder(), Qt::DescendingOrder);
        QCOMPARE(w.child<QLineEdit>("historyFilter")->text(), QStringLiteral("tiny"));
        QVERIFY(saveView(*w.table(), QStringLiteral("Here")));
        const auto kept = views.find("Here");
        QVERIFY(kept);
        QVERIFY(kept->columns.front() == "Steps");
        QVERIFY(kept->hidden == std::vector<std::string>{"Run"});
        QVERIFY(kept->sorted == "Steps");
        QVERIFY(kept->falling);
        QVERIFY(kept->filter == "tiny");
        QVERIFY(!kept->widths.contains("Run") && kept->widths.contains("Steps"));
    }

    // Any table: figures whole, words cut where they are long, and a menu on each row.
    void everyTableFitsWhatItHoldsAndHasARowMenu()
    {
        Table table;
        table.columns = {{"what", "what"}, {"number", "number"}, {"words", "words"}, {"rest", "rest"}};
        table.rows = {{"a", 123456789.0, std::string(300, 'w'), "r"}, {"b", 2.0, "short", "r"}};
        TableModel model(table);
        DataTable view;
        view.present(model, "any", QStringLiteral("Any"));
        view.resize(900, 200);
        int done = 0;
        view.addRowAction(QStringLiteral("Do it"), Qt::Key_Return, [&] { ++done; });
        view.addRowAction(
            QStringLiteral("Not now"), {}, [&] { done += 100; }, [] { return false; });
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const QFontMetrics metrics(view.font());
        QVERIFY(view.columnWidth(1) > metrics.horizontalAdvance(QStringLiteral("123,456,789")));
        QVERIFY(view.columnWidth(0) < 100);
        QVERIFY(view.columnWidth(2) < 400 && view.columnWidth(2) > 200);
        view.selectRow(0);
        const QPoint at = view.visualRect(view.currentIndex()).center();
        const QStringList entries = clickContextMenu(view, at, QStringLiteral("Do it"));
        QCOMPARE(done, 1);
        for (const char* wanted : {"Not now (off)", "Copy cell", "Copy rows", "Columns", "Views"})
            QVERIFY2(entries.contains(QString::fromLatin1(wanted)), wanted);
        clickContextMenu(view, at, QStringLiteral("Copy cell"));
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("a"));
    }

    void theOpenPlansStandInATableWithWhatDiffers()
    {
        test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("first.plan.json")));
        QVERIFY(w.answered());
        w.window.files().duplicate();
        w.document().setValue("layout.tp", 4, QStringLiteral("Change"));
        QVERIFY(w.answered());
        w.window.plans().setCurrent(0);
        w.window.showOpenPlans();
        auto* dialog = w.window.findChild<PlansDialog*>();
        QVERIFY(dialog);
        auto* table = dialog->findChild<DataTable*>(QStringLiteral("openPlans"));
        QTRY_COMPARE(table->model()->rowCount(), w.window.plans().count());
        constexpr int kDiffers = 2;
        const auto cell = [&](int row, int column) { return table->model()->index(row, column).data().toString(); };
        QTRY_COMPARE(cell(0, kDiffers), QStringLiteral("on show"));
        QVERIFY2(cell(1, kDiffers).startsWith(QStringLiteral("tp 2 -> 4")), qPrintable(cell(1, kDiffers)));
        QTRY_VERIFY(cell(1, 1).contains(QStringLiteral("GiB"))); // its verdict
        // An edit of a plan that is not on show arrives too.
        w.window.plans().document(1).setValue("training.recompute", "full", QStringLiteral("Change"));
        QTRY_VERIFY(cell(1, kDiffers).contains(QStringLiteral("recompute")));
        table->setCurrentIndex(table->model()->index(1, 0));
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(w.window.plans().currentIndex(), 1);
        QTRY_COMPARE(cell(1, kDiffers), QStringLiteral("on show"));
        dialog->close();
    }

    void aPlanIsRenamedInItsTab()
    {
        test::WindowFixture w;
        w.window.show();
        w.open(QStringLiteral("one.plan.json"));
        auto* name = w.child<QLineEdit>("planName");
        const std::string before = w.document().resolved()->name;
        QTest::keyClick(&w.window, Qt::Key_F2);
        QVERIFY(name->isVisible());
        QTest::keyClicks(name, QStringLiteral("no, the old one"));
        QTest::keyClick(name, Qt::Key_Escape);
        QCOMPARE(w.document().resolved()->name, before);
        QTest::keyClick(&w.window, Qt::Key_F2);
        QTest::keyClicks(name, QStringLiteral("Llama on a diet"));
        QTest::keyClick(name, Qt::Key_Return);
        QVERIFY(!name->isVisible());
        QCOMPARE(w.document().resolved()->name, std::string("Llama on a diet"));
        w.document().undoStack().undo();
        QCOMPARE(w.document().resolved()->name, before);
    }

    // On a bus of the test's own, with a service of its own.
    void theDesktopIsToldOfAnEnd()
    {
        const QString daemon = QStandardPaths::findExecutable(QStringLiteral("dbus-daemon"));
        QVERIFY2(!daemon.isEmpty(), "packaging/test.sh installs dbus-daemon");
        QProcess bus;
        bus.start(daemon, {QStringLiteral("--session"), QStringLiteral("--nofork"), QStringLiteral("--print-address")});
        QVERIFY(bus.waitForReadyRead(kPatience));
        const QByteArray address = bus.readLine().trimmed();
        qputenv("DBUS_SESSION_BUS_ADDRESS", address);
        QDBusConnection service
            = QDBusConnection::connectToBus(QString::fromLatin1(address), QStringLiteral("desktop"));
        Notifications notifications;
        QVERIFY(service.registerObject(
            QStringLiteral("/org/freedesktop/Notifications"), &notifications, QDBusConnection::ExportAllSlots));
        QVERIFY(service.registerService(QStringLiteral("org.freedesktop.Notifications")));
        QWidget elsewhere; // not shown, so not the active one
        notify(elsewhere, QStringLiteral("Run ended: Failed"), QStringLiteral("tiny <b>"), true);
        QTRY_COMPARE_WITH_TIMEOUT(
            notifications.seen, QStringList{QStringLiteral("Run ended: Failed|tiny &lt;b&gt;")}, kPatience);

        // What a run's own watch reports: once, with what came meanwhile counted; nothing of hours ago.
        notifications.seen.clear();
        RunController controller;
        LiveRun live(controller);
        live.expect({}, 100, QStringLiteral("tiny"));
        QWidget page; // not on show
        const RunSigns signs(controller, live, elsewhere, page);
        emit controller.started();
        const auto spike = [](int step, const char* action, const QDateTime& when) {
            return Json{{"event", "warning"}, {"step", step}, {"message", "the loss 9.0 stands out"},
                {"time", when.toUTC().toString(Qt::ISODateWithMs).toStdString()}, {"watch", {{"action", action}}}};
        };
        const QDateTime now = QDateTime::currentDateTimeUtc();
        emit controller.eventsArrived({spike(3, "warn", now.addSecs(-3600))}, false);
        emit controller.eventsArrived({Json{{"event", "warning"}, {"message", "no watch's"}}}, false);
        emit controller.eventsArrived({spike(12, "warn", now)}, false);
        emit controller.eventsArrived({spike(13, "warn", now)}, false); // less than a minute later
        emit controller.eventsArrived({spike(14, "stop", now)}, false); // the run ends by it
        QTRY_COMPARE_WITH_TIMEOUT(notifications.seen,
            (QStringList{QStringLiteral("Step 12: the loss 9.0 stands out|tiny"),
                QStringLiteral("Step 14: the loss 9.0 stands out|tiny\n1 more since the last")}),
            kPatience);
        QDBusConnection::disconnectFromBus(QStringLiteral("desktop"));
        bus.kill();
        bus.waitForFinished();
    }
};

int main(int argc, char** argv)
{
    return test::runTests<TrackingTest>(argc, argv);
}

#include "tracking_test.moc"
