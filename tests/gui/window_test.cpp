// SPDX-License-Identifier: GPL-3.0-or-later
// The main window as a user has it: edit, undo, invalid values, files, themes, history.
#include "app/desktop/main_window.h"
#include "app/desktop/pages/compare_charts.h"
#include "app/desktop/pages/compare_page.h"
#include "app/desktop/pages/config/config_panel.h"
#include "app/desktop/pages/config/reason_row.h"
#include "app/desktop/pages/history_page.h"
#include "app/desktop/pages/plan_page.h"
#include "app/desktop/pages/run_form.h"
#include "app/desktop/pages/runs_page.h"
#include "app/desktop/pages/search_page.h"
#include "app/desktop/screenshot.h"
#include "app/desktop/widgets/figure_card.h"
#include "app/desktop/widgets/memory_bars.h"
#include "app/desktop/zoom.h"
#include "app/models/plan_edits.h"
#include "app/models/published.h"
#include "app/models/text.h"
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
#include <QSignalSpy>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>
#include <QTest>
#include <QWheelEvent>

using namespace fourfold;
using namespace fourfold::ui;

namespace {

using test::WindowFixture;

// A window on the cluster plan.
struct Fixture : WindowFixture {
    QString file = test::Home::the().path(QStringLiteral("cluster.plan.json"));

    Fixture() { open(QStringLiteral("cluster.plan.json")); }
    QSpinBox* spin(const char* path) { return window.findChild<QSpinBox*>(QString::fromLatin1(path)); }
    QString figure(std::size_t index) { return window.planPage().figures().at(index)->figure().value; }
    // The button that puts the nearest valid value into a field; null when there is no reason to.
    QPushButton* useButton(const char* path)
    {
        auto* reason = window.findChild<ReasonRow*>(QStringLiteral("reason.") + QString::fromLatin1(path));
        auto* button = reason->findChild<QPushButton*>(QStringLiteral("useNearest"));
        return button->isVisible() ? button : nullptr;
    }
};
} // namespace

class WindowTest : public QObject {
    Q_OBJECT
private slots:
    void tensorParallelChangesMemory()
    {
        Fixture w;
        w.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&w.window));
        QVERIFY(w.answered());
        const QString memory = w.figure(0);
        auto* bars = w.window.findChild<MemoryBars*>();
        const QImage before = bars->grab().toImage();
        QSpinBox* tp = w.spin("layout.tp");
        QCOMPARE(tp->value(), 2);
        tp->setFocus();
        QTest::keyClick(tp, Qt::Key_Up); // the next divisor of 16 GPUs
        QCOMPARE(tp->value(), 4);
        QVERIFY(w.answered());
        QTRY_VERIFY(w.figure(0) != memory);
        QVERIFY(bars->grab().toImage() != before);
        QCOMPARE(w.spin("layout.dp")->value(), 4); // data parallelism took up the rest
        QVERIFY(w.window.isWindowModified());

        QTest::keyClick(tp, Qt::Key_Z, Qt::ControlModifier); // from the field itself
        QVERIFY(w.answered());
        QTRY_COMPARE(w.figure(0), memory);
        QCOMPARE(tp->value(), 2);
        QVERIFY(!w.window.isWindowModified());
        QTest::keyClick(tp, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(w.answered());
        QCOMPARE(tp->value(), 4);
    }

    void invalidValueSaysWhyAndHowToCureIt()
    {
        Fixture w;
        QVERIFY(w.answered());
        const QString memory = w.figure(0);
        w.spin("layout.tp")->setValue(3);
        QVERIFY(!w.document().isValid());
        QVERIFY(w.window.planPage().figures()[0]->isStale());
        QCOMPARE(w.figure(0), memory); // the last valid answer stays
        auto* verdict = w.window.findChild<QLabel*>(QStringLiteral("verdict"));
        QVERIFY(verdict->text().contains(QStringLiteral("Not valid")));
        QPushButton* use = w.useButton("layout.tp");
        QVERIFY(use);
        QVERIFY2(use->text().startsWith(QStringLiteral("Use ")), qPrintable(use->text()));
        QTest::mouseClick(use, Qt::LeftButton);
        QVERIFY(w.document().isValid());
        QVERIFY(w.answered());
        QTRY_VERIFY(!w.window.planPage().figures()[0]->isStale());
        QVERIFY(!w.useButton("layout.tp"));
        QVERIFY(!w.useButton("gpus"));
    }

    void runIsRefusedWithTheReason()
    {
        Fixture w;
        w.window.showPage(MainWindow::Page::runs);
        QVERIFY(!w.window.runsPage().form().canStart());
        QVERIFY(!w.window.runsPage().form().refusal().isEmpty());
        auto* start = w.window.findChild<QPushButton*>(QStringLiteral("start"));
        QVERIFY(!start->isEnabled());
        auto* message = w.window.runsPage().findChild<QLabel*>(QStringLiteral("message"));
        QVERIFY(message->text().startsWith(QStringLiteral("Cannot run: ")));
    }

    void wheelScrollsInsteadOfEditing()
    {
        Fixture w;
        w.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&w.window));
        QSpinBox* tp = w.spin("layout.tp");
        w.spin("layout.cp")->setFocus();
        const auto turn = [tp] {
            const QPointF at = tp->rect().center();
            QWheelEvent event(
                at, tp->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(tp, &event);
        };
        turn();
        QCOMPARE(tp->value(), 2);
        tp->setFocus();
        QTRY_VERIFY(tp->hasFocus());
        turn();
        QCOMPARE(tp->value(), 4);
    }

    void pickersChangeThePlan()
    {
        Fixture w;
        auto* model = w.window.findChild<QComboBox*>(QStringLiteral("model"));
        const int seventy = model->findData(QStringLiteral("llama-3.1-70b"));
        QVERIFY(seventy >= 0);
        model->setCurrentIndex(seventy);
        emit model->activated(seventy);
        QCOMPARE(w.document().resolved()->model.layers, 80);
        auto* schedule = w.window.findChild<QComboBox*>(QStringLiteral("training.schedule"));
        const int gpipe = schedule->findData(QStringLiteral("gpipe"));
        schedule->setCurrentIndex(gpipe);
        emit schedule->activated(gpipe);
        QCOMPARE(w.document().resolved()->training.schedule, Schedule::gpipe);
        w.document().undoStack().undo();
        w.document().undoStack().undo();
        QCOMPARE(w.document().resolved()->model.layers, 32);
        QCOMPARE(model->currentText(), QStringLiteral("Llama 3.1 8B"));
    }

    // Sequence and batch go with the model where they were its own, in the same undoable step.
    void anotherModelTakesItsSequenceAlong()
    {
        Fixture w;
        const auto pick = [&](const char* id) {
            auto* model = w.window.planPage().findChild<QComboBox*>(QStringLiteral("model"));
            const int row = model->findData(QString::fromLatin1(id));
            QVERIFY(row >= 0);
            model->setCurrentIndex(row);
            emit model->activated(row);
        };
        const Json before = w.document().plan().document;
        const Training& now = w.document().resolved()->training;
        const double tokens = double(now.seq_len) * now.global_batch;
        QCOMPARE(now.seq_len, 8192);
        pick("llama-3.1-70b"); // has the positions: only the model changes
        Json expected = before;
        expected["model"] = "llama-3.1-70b";
        QVERIFY(w.document().plan().document == expected);

        QSignalSpy told(&w.document(), &PlanDocument::told);
        pick("gpt2"); // has 1,024 positions
        QCOMPARE(now.seq_len, 1024);
        QCOMPARE(double(now.seq_len) * now.global_batch, tokens);
        QVERIFY(w.document().isValid());
        QCOMPARE(told.count(), 1);
        QVERIFY2(told[0][0].toString().contains(QStringLiteral("sequence 8,192 \u2192 1,024")),
            qPrintable(told[0][0].toString()));
        pick("llama-3.1-8b"); // 1,024 was all that GPT-2 has, so it was no choice of a person
        QVERIFY(w.document().plan().document == before);
        w.document().undoStack().undo();
        w.document().undoStack().undo();
        QVERIFY(w.document().plan().document == expected); // one step took the model and all that followed
        w.spin("training.seq_len")->setValue(2048);
        pick("llama-3.1-8b");
        QCOMPARE(now.seq_len, 2048); // chosen by a person, and possible

        // The example that the window opens with trains a toy of 128 positions on four CPU ranks.
        QVERIFY(w.window.openPlan(FOURFOLD_SOURCE_DIR "/presets/plans/this-computer.plan.json"));
        const Training& toy = w.document().resolved()->training;
        QCOMPARE(toy.seq_len, 128);
        pick("llama-3.1-8b");
        QCOMPARE(toy.seq_len, 8192);
        QCOMPARE(toy.micro_batch, 1);
        QCOMPARE(toy.global_batch, 2); // a step cannot have fewer sequences than DP ranks
        QVERIFY(w.document().brokenRules().empty());
    }

    void rankOrderAndExpertsAreInThePanel()
    {
        Fixture w;
        auto* order = w.child<QComboBox>("layout.order");
        QCOMPARE(order->count(), 24);
        QCOMPARE(order->currentData().toString(), QStringLiteral("tp,cp,dp,pp")); // Megatron's
        const Json before = w.document().plan().document;
        order->setCurrentIndex(order->findData(QStringLiteral("dp,tp,cp,pp")));
        emit order->activated(order->currentIndex());
        QVERIFY(w.document().isValid());
        QCOMPARE(w.document().resolved()->layout.order.front(), Dimension::dp);
        w.document().undoStack().undo();
        QVERIFY(w.document().plan().document == before);
        QCOMPARE(order->currentData().toString(), QStringLiteral("tp,cp,dp,pp"));

        auto* experts = w.spin("layout.ep");
        QVERIFY(!experts->isVisible()); // Llama has none
        w.document().setValue("model", "mixtral-8x7b", QStringLiteral("Change model"), false);
        QVERIFY(experts->isVisible());
        experts->setValue(3);
        QVERIFY(!w.document().isValid());
        QPushButton* use = w.useButton("layout.ep");
        QVERIFY(use);
        QTest::mouseClick(use, Qt::LeftButton);
        QVERIFY(8 % w.document().resolved()->layout.ep == 0);
        w.document().setValue("layout.ep", 8, QStringLiteral("Change"), false);
        QVERIFY2(w.document().isValid(),
            w.document().brokenRules().empty() ? "" : w.document().brokenRules().front().message.c_str());
        QVERIFY(w.answered());
    }

    void ownModelAndImport()
    {
        Fixture w;
        const QByteArray config = R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
            "num_hidden_layers": 12, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 32000,
            "rms_norm_eps": 1e-5, "max_position_embeddings": 4096, "my_own_key": true})";
        QVERIFY(w.window.importModel(test::Home::the().write(QStringLiteral("config.json"), config).toStdString()));
        QCOMPARE(w.document().resolved()->model.layers, 12);
        QCOMPARE(w.document().resolved()->training.seq_len, 4096);
        QVERIFY(valueAt(w.document().plan().document, "model.my_own_key").is_boolean());
        int seen = 0;
        test::DialogWatch watch([&](QMessageBox&) { ++seen; });
        QVERIFY(!w.window.importModel(
            test::Home::the().write(QStringLiteral("bad.json"), "{\"model_type\": 3}").toStdString()));
        QCOMPARE(seen, 1);
        QCOMPARE(w.document().resolved()->model.layers, 12);
    }

    void savingKeepsUnknownKeys()
    {
        Fixture w;
        w.spin("training.micro_batch")->setValue(2);
        QVERIFY(w.window.isWindowModified());
        const QString copy = test::Home::the().path(QStringLiteral("copy.plan.json"));
        QVERIFY(w.window.savePlanAs(copy.toStdString()));
        QVERIFY(!w.window.isWindowModified());
        const Expected<Plan> read = read_plan(copy.toStdString());
        QVERIFY(read.has_value());
        QCOMPARE(valueAt(read->document, "notes_of_mine.kept").dump(), std::string("[1,2,3]"));
        QCOMPARE(valueAt(read->document, "training.micro_batch").get<int>(), 2);
        QCOMPARE(test::readFile(w.file), test::clusterPlan()); // the original is untouched
    }

    void badFileIsToldAndNothingIsLost()
    {
        Fixture w;
        w.spin("training.micro_batch")->setValue(4);
        const Json before = w.document().plan().document;
        QString told;
        test::DialogWatch watch([&](QMessageBox& box) { told = box.text() + box.informativeText(); });
        QVERIFY(!w.window.openPlan(
            test::Home::the().write(QStringLiteral("broken.plan.json"), "{ \"model\": ").toStdString()));
        QVERIFY2(told.contains(QStringLiteral("broken.plan.json")), qPrintable(told));
        QCOMPARE(w.window.plans().count(), 1); // no tab for a plan that is none
        QVERIFY(w.document().plan().document == before);
        QVERIFY(w.window.isWindowModified());
        QVERIFY(!w.window.savePlanAs(test::Home::the().path(QStringLiteral("no/such/folder/x.json")).toStdString()));
        QVERIFY(!QFile::exists(test::Home::the().path(QStringLiteral("no"))));
        QVERIFY(w.window.isWindowModified());
    }

    void cancelKeepsThePlan()
    {
        Fixture w;
        w.spin("training.micro_batch")->setValue(4);
        test::DialogWatch watch([](QMessageBox& box) { box.button(QMessageBox::Cancel)->click(); });
        QVERIFY(!w.window.close());
        QVERIFY(w.window.isVisible());
        QCOMPARE(w.document().resolved()->training.micro_batch, 4);
    }

    void themesReachEveryWidget()
    {
        Fixture w;
        QVERIFY(w.answered());
        auto* bars = w.window.findChild<MemoryBars*>();
        w.window.setTheme(ThemeChoice::light);
        const QColor light = bars->grab().toImage().pixelColor(bars->width() - 8, 30);
        w.window.setTheme(ThemeChoice::dark);
        const QColor dark = bars->grab().toImage().pixelColor(bars->width() - 8, 30);
        QCOMPARE(light, lightTheme().panel);
        QCOMPARE(dark, darkTheme().panel);
        w.window.setTheme(ThemeChoice::light);
    }

    void textIsReadableOnEverySurface()
    {
        // WCAG 2.1 relative luminance and contrast ratio.
        const auto luminance = [](const QColor& color) {
            const auto channel = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
            return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) + 0.0722 * channel(color.blueF());
        };
        const auto contrast = [&](const QColor& a, const QColor& b) {
            const double high = std::max(luminance(a), luminance(b)), low = std::min(luminance(a), luminance(b));
            return (high + 0.05) / (low + 0.05);
        };
        for (const Theme& theme : {lightTheme(), darkTheme()}) {
            for (const QColor& surface : {theme.panel, theme.field, theme.alternate}) {
                for (const QColor& text :
                    {theme.text, theme.muted, theme.accentText, theme.good, theme.warning, theme.bad})
                    QVERIFY2(contrast(text, surface) >= 4.5,
                        qPrintable(text.name() + QStringLiteral(" on ") + surface.name()));
            }
            QVERIFY(contrast(theme.onAccent, theme.primary) >= 4.5);
            QVERIFY(contrast(theme.selectionText, theme.selection) >= 4.5);
            QVERIFY(contrast(theme.onLightBar, theme.backward) >= 4.5);
            QVERIFY(contrast(theme.onDarkBar, theme.forward) >= 4.5);
        }
    }

    void screenshotsAreNeverEmpty()
    {
        Fixture w;
        ScreenshotRequest request;
        request.file = test::Home::the().path(QStringLiteral("shot.png"));
        request.size = {1280, 800};
        for (const bool dark : {false, true}) {
            request.dark = dark;
            QVERIFY(takeScreenshot(w.window, request).has_value());
            const QImage image(request.file);
            QCOMPARE(image.size(), QSize(1280, 800));
        }
        request.file = test::Home::the().path(QStringLiteral("no/such/folder.png"));
        QVERIFY(!takeScreenshot(w.window, request).has_value());
        w.window.setTheme(ThemeChoice::light);
    }

    void sessionComesBack()
    {
        const QString file = test::Home::the().write(QStringLiteral("session.plan.json"), test::clusterPlan());
        MainWindow::Options withSession = WindowFixture::options();
        withSession.session = true;
        const Presets presets;
        {
            MainWindow window(presets, withSession);
            window.show();
            QVERIFY(window.openPlan(file.toStdString()));
            window.setTheme(ThemeChoice::dark);
            window.setUiZoom(150);
            window.showPage(MainWindow::Page::history);
            QVERIFY(window.close());
        }
        setZoom(100); // a program that starts anew
        qApp->setStyleSheet(QString());
        MainWindow window(presets, withSession);
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
        window.showPage(MainWindow::Page::plan);
        int smaller = 0; // captions are half a point smaller, at 100 %
        for (const QLabel* label : window.planPage().findChildren<QLabel*>()) {
            if (label->isVisible() && label->property("fourfoldPoints") == QVariant(-0.5))
                smaller += std::abs(label->font().pointSizeF() - 12.75) < 0.01 ? 1 : -1000;
        }
        QVERIFY2(smaller > 5, qPrintable(QString::number(smaller)));
        window.showPage(MainWindow::Page::history);
        window.setUiZoom(100);
        QCOMPARE(fromUtf8(window.document().file().string()), file);
        QCOMPARE(window.page(), MainWindow::Page::history);
        QVERIFY(themeOf(&window).dark);
        window.setTheme(ThemeChoice::light);
        QVERIFY(window.close()); // the next session is at 100 %
    }

    void emptyHistoryAndExport()
    {
        Fixture w;
        w.window.showPage(MainWindow::Page::history);
        QCOMPARE(w.window.historyPage().model().rowCount(), 0);
        const QString file = test::Home::the().path(QStringLiteral("runs.csv"));
        QVERIFY(w.window.historyPage().exportTo(file));
        QVERIFY(test::readFile(file).startsWith("id,"));
        int told = 0;
        test::DialogWatch watch([&](QMessageBox&) { ++told; });
        QVERIFY(!w.window.historyPage().exportTo(test::Home::the().path(QStringLiteral("runs.xlsx"))));
        QCOMPARE(told, 1);
        QVERIFY(!QFile::exists(test::Home::the().path(QStringLiteral("runs.xlsx"))));
    }

    void searchAndComparisonComeBack()
    {
        const QString file = test::Home::the().write(QStringLiteral("asked.plan.json"), test::clusterPlan());
        MainWindow::Options withSession = WindowFixture::options();
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
            MainWindow window(presets, withSession);
            window.show();
            window.activateWindow(); // for the keys of the table
            QVERIFY(QTest::qWaitForWindowActive(&window));
            QVERIFY(window.openPlan(file.toStdString()));
            QTRY_VERIFY_WITH_TIMEOUT(window.document().isAnswered(), test::kPatience);
            window.showPage(MainWindow::Page::search);
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
            window.showPage(MainWindow::Page::history);
            QVERIFY(
                window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
            test::click(*window.findChild<QPushButton*>(QStringLiteral("compareRuns"))); // and the selected run
            const Expected<MeasuredTable> table
                = readTable(FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv", presets);
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
        MainWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        QTRY_VERIFY_WITH_TIMEOUT(window.document().isAnswered(), test::kPatience);
        QCOMPARE(window.page(), MainWindow::Page::compare);
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
        window.showPage(MainWindow::Page::search);
        QCOMPARE(window.findChild<QLineEdit*>(QStringLiteral("constraint"))->text(), QStringLiteral("tp <= 4"));
        QCOMPARE(window.findChild<QLineEdit*>(QStringLiteral("resultFilter"))->text(), QStringLiteral("pp == 1"));
        QCOMPARE(window.findChild<QSpinBox*>(QStringLiteral("searchGpus"))->value(), 32);
        QVERIFY(window.findChild<QComboBox*>(QStringLiteral("objective"))
                    ->currentText()
                    .contains(QStringLiteral("Step time")));
        QVERIFY(window.findChild<QLabel*>(QStringLiteral("searchInvitation"))->isVisible()); // results are not kept
        QVERIFY(window.close());
    }
};

int main(int argc, char** argv)
{
    return test::runTests<WindowTest>(argc, argv);
}

#include "window_test.moc"
