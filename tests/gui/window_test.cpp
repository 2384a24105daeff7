// SPDX-License-Identifier: GPL-3.0-or-later
// The main window as a user has it: edit, undo, invalid values, files, themes, history.
#include "app/desktop/look/zoom.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/config/config_panel.h"
#include "app/desktop/pages/plan/config/reason_row.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/screenshot.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "core/plan/fields.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>

#include <algorithm>

using namespace fourfold;
using namespace fourfold::ui;

namespace {

using test::WindowFixture;

// A window on the cluster plan.
struct Fixture : WindowFixture {
    QString file = test::Home::the().path(QStringLiteral("cluster.plan.json"));

    Fixture() { open(QStringLiteral("cluster.plan.json")); }
    QSpinBox* spin(const char* path) { return window.findChild<QSpinBox*>(QString::fromLatin1(path)); }
    QString figure(std::size_t index) { return fromUtf8(window.planPage().figures().at(index)->figure().value); }
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

    // To who does not see the red frame: with the field that has the focus, or else as a notification of its own.
    void aRefusedValueIsSaid()
    {
        Fixture w;
        w.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&w.window));
        QVERIFY(w.answered());
        const auto notes = [&w] { return test::announcements(w.window); };
        QSpinBox* tp = w.spin("layout.tp");
        const QString usual = tp->accessibleDescription();
        tp->setFocus();
        tp->setValue(3);
        QVERIFY(!w.document().isValid());
        const QString reason = QString::fromStdString(w.document().brokenRules().front().message);
        QCOMPARE(QString::fromStdString(w.document().brokenRules().front().field), QStringLiteral("layout.tp"));
        QCOMPARE(QAccessible::queryAccessibleInterface(tp)->text(QAccessible::Description), reason);
        QVERIFY2(std::ranges::any_of(
                     notes(), [](const QString& note) { return note.startsWith(QStringLiteral("Not valid. ")); }),
            qPrintable(notes().join(QLatin1Char('\n'))));

        w.document().undoStack().undo();
        QVERIFY(w.answered());
        QCOMPARE(tp->accessibleDescription(), usual);
        QTRY_VERIFY(
            notes().value(notes().size() - 1).startsWith(QStringLiteral("Fits. "))); // and what follows from the edit
        w.window.findChild<QSpinBox*>(QStringLiteral("gpus"))->setFocus();
        tp->setValue(3); // by undo, by advice: the focus is elsewhere
        QVERIFY2(notes().contains(QStringLiteral("%1: %2").arg(tp->accessibleName(), reason)),
            qPrintable(notes().join(QLatin1Char('\n'))));
        w.window.say(QStringLiteral("Written to x"));
        QCOMPARE(notes().value(notes().size() - 1), QStringLiteral("Written to x"));
    }

    void runIsRefusedWithTheReason()
    {
        Fixture w;
        w.window.showPage(QStringLiteral("runs"));
        QVERIFY(!w.window.runsPage().form().canStart());
        QVERIFY(!w.window.runsPage().form().refusal().isEmpty());
        auto* start = w.window.findChild<QPushButton*>(QStringLiteral("start"));
        QVERIFY(!start->isEnabled());
        auto* message = w.window.runsPage().findChild<QLabel*>(QStringLiteral("message"));
        QVERIFY(message->text().startsWith(QStringLiteral("Cannot run: ")));
    }

    // A plan without data is refused where its data is chosen; what is no token file is said there and changes nothing.
    void dataIsNamedWhereItIsMissing()
    {
        Fixture w;
        QByteArray plan = test::tinyPlan(10, 1);
        plan.replace(R"("data": [ { "path": "corpus/devils-dictionary.txt" } ],)", "");
        QVERIFY(w.open(QStringLiteral("nodata.plan.json"), plan) && w.answered());
        w.window.showPage(QStringLiteral("runs"));
        const auto* message = w.child<QLabel>("message");
        QVERIFY2(message->text().contains(QStringLiteral("name at least one token file")), qPrintable(message->text()));
        auto* data = w.child<QLineEdit>("run.data");
        QCOMPARE(data->placeholderText(), QStringLiteral("none"));
        const auto give = [&](const QString& text) {
            data->setFocus();
            data->selectAll();
            QTest::keyClicks(data, text);
            QTest::keyClick(data, Qt::Key_Return);
        };
        const Json before = w.document().plan().document;
        for (const auto& [text, said] : {std::pair("lost.bin", "does not exist"), std::pair(".", "is a folder"),
                 std::pair("nodata.plan.json,", "on either side of each comma")}) {
            give(QString::fromLatin1(text));
            QVERIFY2(data->toolTip().contains(QString::fromLatin1(said)), qPrintable(data->toolTip()));
            QCOMPARE(data->text(), QString::fromLatin1(text)); // to be mended
            QVERIFY(w.document().plan().document == before);
        }
        test::Home::the().write(QStringLiteral("own.txt"), QByteArray(4096, 'x'));
        give(QStringLiteral("corpus/devils-dictionary.txt, own.txt"));
        QVERIFY2(!data->toolTip().contains(QStringLiteral("own.txt")), qPrintable(data->toolTip()));
        QVERIFY(value_at(w.document().plan().document, "run.data")
            == Json::parse(R"([{"path": "corpus/devils-dictionary.txt"}, {"path": "own.txt"}])"));
        QVERIFY(!message->text().contains(QStringLiteral("token file")));
        w.document().undoStack().undo();
        QVERIFY(data->text().isEmpty());
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
        QVERIFY(value_at(w.document().plan().document, "model.my_own_key").is_boolean());
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
        QCOMPARE(value_at(read->document, "notes_of_mine.kept").dump(), std::string("[1,2,3]"));
        QCOMPARE(value_at(read->document, "training.micro_batch").get<int>(), 2);
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

    void emptyHistoryAndExport()
    {
        Fixture w;
        w.window.showPage(QStringLiteral("history"));
        QCOMPARE(w.window.historyPage().model().rowCount(), 0);
        // What can be taken in is offered under the button that was pressed; another one opens the same menu elsewhere.
        auto* menu = w.child<QPushButton>("importRuns")->menu();
        auto* button = w.child<QPushButton>("emptyHistory");
        QPoint at;
        QTimer::singleShot(0, menu, [&] {
            at = menu->pos();
            menu->close();
        });
        test::click(*button);
        QTRY_VERIFY(!at.isNull());
        QVERIFY((at - button->mapToGlobal(button->rect().bottomLeft())).manhattanLength() < button->width());
        const QString file = test::Home::the().path(QStringLiteral("runs.csv"));
        QVERIFY(writeTable(w.window.historyPage().model().list().table(), file));
        QVERIFY(test::readFile(file).startsWith("id,"));
        const QString foreign = test::Home::the().path(QStringLiteral("runs.xlsx"));
        QVERIFY(!writeTable(w.window.historyPage().model().list().table(), foreign));
        QVERIFY(!QFile::exists(foreign));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<WindowTest>(argc, argv);
}

#include "window_test.moc"
