// SPDX-License-Identifier: GPL-3.0-or-later
// Traces and trackers in the window: dropped, opened, laid beside a plan and beside the history's curves.
#include "app/desktop/dialogs/trace_dialog.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/history/run_curves_view.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/curves_chart.h"
#include "app/desktop/widgets/timeline/timeline_raster.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/desktop/window_files.h"
#include "app/models/shared/dropped_item.h"
#include "core/dashboards/dashboard.h"
#include "core/schedule/chrome_trace.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"
#include "tests/kineto_trace.h"

#include <QComboBox>
#include <QContextMenuEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QTabBar>
#include <QTimer>
#include <QUrl>

using namespace fourfold;
using namespace fourfold::ui;
using ui::test::kPatience;
using view::CurveMetric;

namespace {
QString writeTrace(const QString& name, int rank)
{
    return ui::test::Home::the().write(name, QByteArray::fromStdString(fourfold::test::kineto_trace(rank).dump()));
}

void drop(MainWindow& window, const QStringList& files)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& file : files)
        urls << QUrl::fromLocalFile(file);
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    QDropEvent event(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &event);
}

// The dialog of the window, once it has nothing left to do.
TraceDialog* kernelsOf(MainWindow& window)
{
    TraceDialog* dialog = nullptr;
    if (!QTest::qWaitFor(
            [&] {
                dialog = window.findChild<TraceDialog*>();
                return dialog && !dialog->isBusy();
            },
            kPatience))
        return nullptr;
    return dialog;
}

QString cellOf(const TableModel& table, const QString& part, int column)
{
    for (int row = 0; row < table.rowCount(); ++row) {
        if (table.index(row, 0).data().toString() == part)
            return table.index(row, column).data().toString();
    }
    return {};
}
} // namespace

class KernelsTest : public QObject {
    Q_OBJECT
private slots:
    void tracesAreKnownByWhatTheyHold()
    {
        const QString plain = writeTrace(QStringLiteral("rank5.json"), 5);
        const auto item = classify(plain.toStdString());
        QVERIFY(item && item->kind == DroppedKind::trace);
        QVERIFY(whatItDoes(*item).contains(QStringLiteral("rank5.json")));
        QCOMPARE(QProcess::execute(QStringLiteral("gzip"), {QStringLiteral("-kf"), plain}), 0);
        const auto packed = classify((plain + QStringLiteral(".gz")).toStdString());
        QVERIFY(packed && packed->kind == DroppedKind::trace);
        const auto plan
            = classify(ui::test::Home::the().write(QStringLiteral("a.json"), ui::test::clusterPlan()).toStdString());
        QVERIFY(plan && plan->kind == DroppedKind::plan);
        QVERIFY(!classify(ui::test::Home::the().write(QStringLiteral("b.json"), "{}").toStdString()));
    }

    void droppedRanksStandBesideThePlan()
    {
        ui::test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("kernels.plan.json")));
        QVERIFY(w.answered());
        w.window.show();
        const QString first = writeTrace(QStringLiteral("rank5.json"), 5),
                      second = writeTrace(QStringLiteral("rank1.json"), 1);
        QCOMPARE(QProcess::execute(QStringLiteral("gzip"), {QStringLiteral("-f"), second}), 0);
        drop(w.window, {first, second + QStringLiteral(".gz")});
        QTRY_VERIFY_WITH_TIMEOUT(w.window.findChild<TraceDialog*>(), kPatience);
        TraceDialog* dialog = kernelsOf(w.window);
        QVERIFY(dialog);
        QCOMPARE(dialog->measured().scene().rows(), 6); // two ranks of three streams each
        QCOMPARE(dialog->measured().scene().row_name(0), std::string("rank 1, stream 7, compute"));
        QVERIFY(dialog->predicted().scene().has_kernels());
        QCOMPARE(dialog->predicted().scene().row_name(0), std::string("stage 0, compute"));
        QCOMPARE(dialog->predicted().window().length(), dialog->measured().window().length());
        // The table of parts, of the rank that is chosen, and its collectives.
        QVERIFY(cellOf(dialog->table(), QStringLiteral("step"), 2).startsWith(QLatin1Char('1')));
        QVERIFY(!cellOf(dialog->table(), QStringLiteral("matrix products"), 3).isEmpty());
        QCOMPARE(dialog->findChild<QComboBox*>(QStringLiteral("traceRank"))->count(), 2);
        QVERIFY(
            ui::test::clickTab(*dialog->findChild<QTabBar*>(QStringLiteral("traceTables")), QStringLiteral("Coll")));
        QCOMPARE(cellOf(dialog->table(), QStringLiteral("_allgather_base"), 1), QStringLiteral("fsdp"));
        // Another step of the traces.
        auto* step = dialog->findChild<QComboBox*>(QStringLiteral("traceStep"));
        QCOMPARE(step->count(), 2);
        QVERIFY(ui::test::choose(*step, QStringLiteral("3")));
        QVERIFY(QTest::qWaitFor([&] { return !dialog->isBusy(); }, kPatience));
        QVERIFY(dialog->measured().subtitle().startsWith(QStringLiteral("step 3, 2 ranks")));
        QCOMPARE(dialog->measured().scene().barCount(), 2u);
    }

    void kernelsAreToldUnderTheMouseAndFound()
    {
        ui::test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("told.plan.json")));
        QVERIFY(w.answered());
        w.window.show();
        TraceDialog& dialog = showKernels(w.window);
        dialog.openFiles({writeTrace(QStringLiteral("told.json"), 5).toStdString()});
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        QVERIFY(kernelsOf(w.window));
        auto* find = dialog.findChild<QLineEdit*>(QStringLiteral("findKernel"));
        find->setFocus();
        QTest::keyClicks(find, QStringLiteral("FLASH_fwd"));
        QTest::keyClick(find, Qt::Key_Return);
        TimelineView& measured = dialog.measured();
        QVERIFY(measured.selected());
        QVERIFY2(
            measured.subtitle().startsWith(QStringLiteral("void flash_fwd_kernel")), qPrintable(measured.subtitle()));
        QVERIFY2(measured.subtitle().contains(QStringLiteral("attention, layer 5; rank 5, stream 7")),
            qPrintable(measured.subtitle()));
        QVERIFY(measured.barRect(*measured.selected()).width() >= 8); // looked at from near
        QVERIFY(measured.accessibleDescription().contains(QStringLiteral("flash_fwd")));
        // The prediction has words of its own, and Enter there opens no derivation of a span.
        find->setText(QStringLiteral("qkv"));
        QTest::keyClick(find, Qt::Key_Return);
        QVERIFY(dialog.predicted().selected());
        QVERIFY2(dialog.predicted().accessibleDescription().contains(QStringLiteral("FLOP/s")),
            qPrintable(dialog.predicted().accessibleDescription()));
        QVERIFY2(dialog.predicted().accessibleDescription().contains(QStringLiteral("layer 0")),
            qPrintable(dialog.predicted().accessibleDescription()));
        find->setText(QStringLiteral("no such kernel"));
        QTest::keyClick(find, Qt::Key_Return);
        QCOMPARE(dialog.findChild<QLabel*>(QStringLiteral("foundKernel"))->text(), QStringLiteral("None is called so"));
        // Under the mouse the same words are drawn.
        QTest::keyClick(&measured, Qt::Key_F);
        const auto product = measured.scene().at(0, 250e-6);
        QVERIFY(product);
        measured.setFocus();
        QTest::keyClick(&measured, Qt::Key_Escape);
        const std::size_t rows = measured.table().rows.size();
        QCOMPARE(rows, measured.scene().barCount());
    }

    // One alone, and both on one axis.
    void kernelsBecomePictures()
    {
        ui::test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("drawn.plan.json")));
        QVERIFY(w.answered());
        w.window.show();
        drop(w.window, {writeTrace(QStringLiteral("rank5.json"), 5)});
        TraceDialog* dialog = nullptr;
        QTRY_VERIFY_WITH_TIMEOUT((dialog = kernelsOf(w.window)) && dialog->measured().scene().rows() > 0, kPatience);
        for (TimelineView* view : dialog->findChildren<TimelineView*>()) {
            QStringList entries;
            QTimer::singleShot(50, view, [&entries] {
                auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
                for (const QAction* action : menu ? menu->actions() : QList<QAction*>())
                    entries << action->text();
                if (menu)
                    menu->close();
            });
            QContextMenuEvent asked(QContextMenuEvent::Mouse, {40, 60}, view->mapToGlobal(QPoint(40, 60)));
            QApplication::sendEvent(view, &asked);
            for (const QString& entry :
                {QStringLiteral("Export picture\u2026"), QStringLiteral("Export both timelines\u2026")})
                QVERIFY2(entries.contains(entry), qPrintable(entries.join(QLatin1Char('|'))));
            const QString alone = ui::test::Home::the().path(QStringLiteral("alone.svg"));
            QVERIFY(writePicture(*view, {900, 400}, alone).has_value());
        }
        auto* rows = dialog->findChild<QWidget*>(QStringLiteral("trace.rows"));
        for (const char* name : {"both.svg", "both.pdf", "both.png"}) {
            const QString file = ui::test::Home::the().path(QString::fromLatin1(name));
            QVERIFY2(writePicture(*rows, {900, 700}, file).has_value(), name);
            QVERIFY2(QFileInfo(file).size() > 4000, name);
        }
    }

    void anEditOfThePlanIsFollowed()
    {
        ui::test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("followed.plan.json")));
        QVERIFY(w.answered());
        w.window.show();
        TraceDialog& dialog = showKernels(w.window);
        QVERIFY(kernelsOf(w.window));
        const double before = dialog.predicted().scene().length();
        QVERIFY(before > 0);
        w.document().setValue("training.seq_len", 2048, QStringLiteral("Change"));
        QVERIFY(w.answered());
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.isBusy() && dialog.predicted().scene().length() != before, kPatience);
        QCOMPARE(&showKernels(w.window), &dialog); // one for the window
    }

    void tracesOfStagesHaveStagesAsRows()
    {
        ui::test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("stages.plan.json")));
        QVERIFY(w.answered());
        w.window.show();
        const Timeline own{2, 3, {{0, SpanKind::forward, 0, 0, 0, 1}, {1, SpanKind::backward, 0, 0, 1, 3}}};
        const QString file = ui::test::Home::the().write(
            QStringLiteral("own.json"), QByteArray::fromStdString(chrome_trace(own, "own").dump()));
        w.window.openFile(file.toStdString());
        TraceDialog* dialog = kernelsOf(w.window);
        QVERIFY(dialog);
        QTRY_COMPARE_WITH_TIMEOUT(dialog->measured().scene().rows(), 2, kPatience);
        QVERIFY(!dialog->measured().scene().has_kernels());
        QCOMPARE(cellOf(dialog->table(), QStringLiteral("step"), 2), QStringLiteral("3,000.0"));
        // What a run or a rehearsal shows brings its own plan, in front of the open ones.
        showTrace(w.window, {"rehearsed", {}, own}, {"as planned", nullptr, own});
        QVERIFY(QTest::qWaitFor([&] { return !dialog->isBusy(); }, kPatience));
        QCOMPARE(
            dialog->findChild<QComboBox*>(QStringLiteral("traceBeside"))->currentText(), QStringLiteral("as planned"));
        QCOMPARE(cellOf(dialog->table(), QStringLiteral("step"), 3), QStringLiteral("0.0"));
    }

    void whatCannotBeReadIsSaid()
    {
        ui::test::WindowFixture w;
        w.window.show();
        TraceDialog& dialog = showKernels(w.window);
        QString said;
        const ui::test::DialogWatch watch([&said](QMessageBox& box) { said = box.text() + box.informativeText(); });
        dialog.openFiles(
            {ui::test::Home::the().write(QStringLiteral("torn.json"), "{\"traceEvents\": [").toStdString()});
        QTRY_VERIFY_WITH_TIMEOUT(watch.seen() == 1, kPatience);
        QVERIFY2(said.contains(QStringLiteral("no whole JSON")), qPrintable(said));
    }

    // Rows of many kernels are drawn from their grid: the picture is that of the kernels themselves.
    void manyKernelsLookLikeThemselves()
    {
        KernelTimeline many;
        many.length_s = 1;
        many.facts = {{"a", KernelKind::product, {}, {}, 0, 0, 0}, {"b", KernelKind::attention, {}, {}, 0, 0, 0}};
        many.tracks = {{"rank 0, stream 7, compute", {}, {}}};
        for (int i = 0; i < 100'000; ++i) // the first half products, the second attention, three quarters busy
            many.tracks[0].spans.push_back({i * 1e-5, (i + 0.75) * 1e-5, i < 50'000 ? 0u : 1u, -1, -1});
        const TimelineScene scene(many);
        const Theme& theme = lightTheme();
        const QImage image = rasterTimeline(scene, 0, 1, {1000, 10}, 10, 0, 1, theme);
        const auto mixed = [&](const QColor& color) {
            return QColor((color.red() * 3 + theme.idle.red()) / 4, (color.green() * 3 + theme.idle.green()) / 4,
                (color.blue() * 3 + theme.idle.blue()) / 4);
        };
        const auto near = [](const QColor& a, const QColor& b) {
            return std::abs(a.red() - b.red()) <= 3 && std::abs(a.green() - b.green()) <= 3
                && std::abs(a.blue() - b.blue()) <= 3;
        };
        QVERIFY(near(image.pixelColor(200, 5), mixed(theme.forward)));
        QVERIFY(near(image.pixelColor(800, 5), mixed(theme.backward)));
        const QImage close = rasterTimeline(scene, 0.1, 0.1001, {1000, 10}, 10, 0, 1, theme); // ten kernels
        QCOMPARE(close.pixelColor(40, 5), theme.forward);
        QCOMPARE(close.pixelColor(90, 5), theme.idle);
    }

    void trackersStandAmongTheCurves()
    {
        ui::test::WindowFixture w;
        w.window.show();
        const std::filesystem::path logs = ui::test::Home::the().path(QStringLiteral("logs")).toStdString();
        const auto board = tensorboard_file(logs, {"first", "", Json()});
        const auto event = [](int step) {
            return Json{{"event", "step"}, {"time", "2026-01-01T00:00:01.000Z"}, {"step", step}, {"loss", 8.0 / step}};
        };
        for (int step = 1; step <= 20; ++step)
            QVERIFY(board->add(event(step)));
        const auto item = classify(logs);
        QVERIFY(item && item->kind == DroppedKind::tracker);
        drop(w.window, {QString::fromStdString(logs.string())});
        QTRY_COMPARE(w.window.page(), QStringLiteral("history"));
        CurvesChart& loss = w.window.historyPage().curves().chart(CurveMetric::loss);
        QTRY_COMPARE_WITH_TIMEOUT(loss.picture().lines.size(), std::size_t(1), kPatience);
        QCOMPARE(loss.picture().lines[0].name, std::string("first (TensorBoard)"));
        QCOMPARE(loss.picture().x.high, 20.0);
        // It is followed while it grows,
        QVERIFY(board->add(event(21)));
        QTRY_COMPARE_WITH_TIMEOUT(loss.picture().x.high, 21.0, kPatience);
        // is there again in the next session,
        RunCurvesView& curves = w.window.historyPage().curves();
        const QVariantMap state = curves.state();
        QCOMPARE(state.value(QStringLiteral("trackers")).toStringList().size(), 1);
        RunCurvesView next(w.historyFile());
        next.restore(state);
        next.QWidget::show();
        QTRY_COMPARE_WITH_TIMEOUT(next.chart(CurveMetric::loss).picture().lines.size(), std::size_t(1), kPatience);
        // and goes when it is closed.
        auto* list = w.child<QListWidget>("curveRuns");
        QCOMPARE(list->count(), 1);
        curves.closeTracker(list->item(0)->data(Qt::UserRole).toString());
        QCOMPARE(list->count(), 0);
        QVERIFY(loss.picture().lines.empty());
    }
};

int main(int argc, char** argv)
{
    return ui::test::runTests<KernelsTest>(argc, argv);
}

#include "kernels_test.moc"
