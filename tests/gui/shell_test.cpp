// SPDX-License-Identifier: GPL-3.0-or-later
// The window around the pages: tabs, drops, zoom, layout, exports.
#include "app/desktop/look/sized_for.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/main_window.h"
#include "app/desktop/page_stack.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/plan/plan_workspace.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/dropped_item.h"
#include "app/models/shared/table_model.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "core/schedule/chrome_trace.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

using namespace fourfold;
using namespace fourfold::ui;

namespace {

using test::WindowFixture;

struct Fixture : WindowFixture {
    static QString plan(const QString& name) { return test::Home::the().write(name, test::clusterPlan()); }
    void drop(const QString& path)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        const QPoint at = window.rect().center();
        QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        accepted = enter.isAccepted();
        auto* hint = window.findChild<QLabel*>(QStringLiteral("dropHint"));
        said = hint->isVisible() ? hint->text() : QString();
        QDropEvent fall(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &fall);
        QVERIFY(!hint->isVisible());
        QTest::qWait(20);
    }
    bool accepted = false;
    QString said;
};
} // namespace

class ShellTest : public QObject {
    Q_OBJECT
private slots:
    void plansOpenAsTabs()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("one.plan.json")));
        QCOMPARE(w.window.plans().count(), 1); // the empty one was nobody's
        QVERIFY(w.open(QStringLiteral("two.plan.json")));
        QCOMPARE(w.window.plans().count(), 2);
        QTabBar& tabs = w.window.workspace().tabs();
        QVERIFY(tabs.isVisible());
        QCOMPARE(tabs.tabText(1), QStringLiteral("two.plan.json"));
        QVERIFY(w.open(QStringLiteral("one.plan.json"))); // open already: only shown
        QCOMPARE(w.window.plans().count(), 2);
        QCOMPARE(w.window.plans().currentIndex(), 0);

        w.window.document().setValue("training.micro_batch", 2, QStringLiteral("Change"));
        QVERIFY(tabs.tabText(0) != QStringLiteral("one.plan.json")); // marked as changed
        QTest::mouseClick(&tabs, Qt::LeftButton, {}, tabs.tabRect(1).center());
        QCOMPARE(w.window.plans().currentIndex(), 1);
        QVERIFY(!w.window.isWindowModified());
        QVERIFY(!w.window.plans().undoGroup().canUndo()); // undo is each plan's own
        QTest::keyClick(&w.window, Qt::Key_D, Qt::ControlModifier);
        QCOMPARE(w.window.plans().count(), 3);
        QVERIFY(w.window.isWindowModified());
        {
            test::DialogWatch watch([](QMessageBox& box) { box.button(QMessageBox::Discard)->click(); });
            QTest::keyClick(&w.window, Qt::Key_W, Qt::ControlModifier);
            QCOMPARE(watch.seen(), 1);
        }
        QCOMPARE(w.window.plans().count(), 2);
        tabs.moveTab(0, 1); // by dragging
        for (int i = 0; i < 2; ++i) {
            const PlanDocument& document = w.window.plans().document(i);
            QVERIFY(tabs.tabText(i).startsWith(document.title()));
        }
        w.window.plans().setCurrent(0);
        QCOMPARE(tabs.currentIndex(), 0);
        QVERIFY(w.window.planPage().isVisible());
        w.window.plans().close(0);
        w.window.plans().close(0);
        QCOMPARE(w.window.plans().count(), 1); // never none
    }

    void dropsDoWhatTheySay()
    {
        Fixture w;
        w.drop(Fixture::plan(QStringLiteral("dropped.plan.json")));
        QVERIFY(w.accepted);
        QCOMPARE(w.said, QStringLiteral("Open plan dropped.plan.json"));
        QVERIFY(w.window.document().file().filename() == "dropped.plan.json");
        const QByteArray config = R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
            "num_hidden_layers": 12, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 32000,
            "rms_norm_eps": 1e-5, "max_position_embeddings": 4096})";
        w.drop(test::Home::the().write(QStringLiteral("config.json"), config));
        QVERIFY(w.said.startsWith(QStringLiteral("Take the model")));
        QCOMPARE(w.window.document().resolved()->model.layers, 12);
        int told = 0;
        test::DialogWatch watch([&](QMessageBox&) { ++told; });
        w.drop(test::Home::the().write(QStringLiteral("notes.json"), "[1, 2]"));
        QTRY_COMPARE(told, 1);
        // The same from the command line.
        w.window.openFile(Fixture::plan(QStringLiteral("named.plan.json")).toStdString());
        QVERIFY(w.window.document().file().filename() == "named.plan.json");
        QCOMPARE(w.window.plans().count(), 2);
        w.window.openFile("no such file");
        QTRY_COMPARE(told, 2);
    }

    void badFilesAreToldAndChangeNothing()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("kept.plan.json")));
        QVERIFY(w.answered());
        QString message;
        test::DialogWatch watch([&](QMessageBox& box) {
            message = box.text() + box.informativeText();
            box.button(QMessageBox::Ok)->click();
        });
        QByteArray noise(4000, '\0');
        for (qsizetype i = 0; i < noise.size(); ++i)
            noise[i] = char(i * 151 + i / 7);
        const std::vector<std::tuple<const char*, QByteArray, const char*>> files{{"empty.json", "", "empty"},
            {"config.json", R"({"model_type": "llama", "hidden_size": )", "not valid JSON"},
            {"noise.plan.json", noise, "not valid JSON"},
            {"newer.plan.json", R"({"fourfold_plan": 99, "model": "llama-3.1-8b", "cluster": "dgx-h100"})",
                "format 99"},
            {"huge.plan.json",
                R"({"fourfold_plan": 1, "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 99999999999999999999})",
                "gpus"},
            {"table.csv", "a,b\n1,2\n", "table.csv"}};
        for (const auto& [name, content, said] : files) {
            message.clear();
            w.drop(test::Home::the().write(QString::fromLatin1(name), content));
            QTRY_VERIFY2(!message.isEmpty(), name);
            QVERIFY2(message.contains(QLatin1String(said)), qPrintable(message));
            QCOMPARE(w.window.plans().count(), 1);
            QVERIFY(w.window.document().file().filename() == "kept.plan.json");
            QVERIFY(!w.window.document().isDirty());
        }
    }

    void aFullDiskIsToldAndLeavesNothing()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("full.plan.json")));
        QVERIFY(w.answered());
        const auto full = [](const char* name) { // the disk behind this name has no room
            const QString file = test::Home::the().path(QString::fromLatin1(name));
            std::filesystem::create_symlink("/dev/full", file.toStdString());
            return file;
        };
        const auto toldOf = [](const Expected<void>& written) {
            return !written && written.error().message.find("space") != std::string::npos;
        };
        auto* bars = w.window.findChild<MemoryBars*>();
        for (const char* name : {"full.png", "full.svg", "full.pdf"})
            QVERIFY2(toldOf(writePicture(*bars, {640, 400}, full(name))), name);
        QVERIFY(toldOf(w.window.planPage().timeline().writeTrace(full("full.json"))));
        for (const char* name : {"full.csv", "full.md", "full.tex"})
            QVERIFY2(toldOf(writeTable(bars->table(), full(name))), name);
        QVERIFY(toldOf(writeReport(w.window.planPage().report(), full("full-report.pdf"))));
        test::type(*w.child<QSpinBox>("training.micro_batch"), 2);
        QVERIFY(w.window.document().isDirty());
        test::DialogWatch watch([](QMessageBox& box) { box.button(QMessageBox::Ok)->click(); });
        QVERIFY(!w.window.savePlanAs(full("saved.plan.json").toStdString()));
        QCOMPARE(watch.seen(), 1);
        QVERIFY(w.window.document().isDirty()); // and is still what it was
        QVERIFY(w.window.document().file().filename() == "full.plan.json");
    }

    void zoomReachesEverything()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("zoom.plan.json")));
        auto* tp = w.window.findChild<QSpinBox*>(QStringLiteral("layout.tp"));
        const double points = QApplication::font().pointSizeF();
        const int width = tp->width();
        QTest::keyClick(&w.window, Qt::Key_Equal, Qt::ControlModifier);
        QCOMPARE(zoom(), 110);
        QVERIFY(QApplication::font().pointSizeF() > points);
        w.window.setUiZoom(200);
        QTRY_VERIFY(tp->width() >= 2 * width - 2);
        QVERIFY(w.window.planPage().grab().toImage().width() > 0);
        QTest::keyClick(&w.window, Qt::Key_0, Qt::ControlModifier);
        QCOMPARE(zoom(), 100);
        QTRY_COMPARE(tp->width(), width);
    }

    void aZoomedWindowStaysAndComesBack()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("laptop.plan.json")));
        const QSize laptop(1440, 870); // less a title bar
        w.window.resize(laptop);
        w.window.setUiZoom(150);
        for (const QString& page : PageStack::ids()) {
            w.window.showPage(page);
            QTest::qWait(50);
            QCOMPARE(w.window.size(), laptop);
        }
        w.window.setUiZoom(250); // this does outgrow it
        QTest::qWait(50);
        QTest::keyClick(&w.window, Qt::Key_0, Qt::ControlModifier);
        QTRY_COMPARE(w.window.size(), laptop);
    }

    void picturesAreExportedOrNothingIs()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("export.plan.json")));
        QVERIFY(QTest::qWaitFor([&] { return w.window.document().isAnswered(); }, 30'000));
        auto* bars = w.window.findChild<MemoryBars*>();
        const QSize before = bars->size();
        for (const char* ending : {"png", "svg", "pdf"}) {
            const QString file = test::Home::the().path(QStringLiteral("bars.") + QLatin1String(ending));
            const Expected<void> written = writePicture(*bars, {640, 400}, file);
            QVERIFY2(written.has_value(), ending);
            QVERIFY(test::readFile(file).size() > 1000);
        }
        QCOMPARE(QImage(test::Home::the().path(QStringLiteral("bars.png"))).size(), QSize(1280, 800));
        const QByteArray svg = test::readFile(test::Home::the().path(QStringLiteral("bars.svg")));
        QVERIFY(svg.contains("Weights"));
        QVERIFY(svg.contains("width=\"") && !svg.contains("<image")); // vectors, not a photograph
        QCOMPARE(bars->size(), before);
        QVERIFY(!writePicture(*bars, {640, 400}, test::Home::the().path(QStringLiteral("bars.gif"))).has_value());
        QVERIFY(!QFile::exists(test::Home::the().path(QStringLiteral("bars.gif"))));
        QVERIFY(!writePicture(*bars, {640, 400}, test::Home::the().path(QStringLiteral("no/bars.svg"))).has_value());
        TimelineView empty; // says what will be there, which is no picture
        for (const char* ending : {"png", "svg", "pdf"}) {
            const QString file = test::Home::the().path(QStringLiteral("empty.") + QLatin1String(ending));
            QVERIFY2(!writePicture(empty, {640, 400}, file).has_value(), ending);
            QVERIFY(!QFile::exists(file));
        }
        const QString trace = test::Home::the().path(QStringLiteral("timeline.json"));
        QVERIFY(!empty.writeTrace(trace).has_value());
        QVERIFY(!QFile::exists(trace));
        const TimelineView& timeline = w.window.planPage().timeline();
        QVERIFY(timeline.writeTrace(trace).has_value());
        const Expected<Timeline> back
            = timeline_from_chrome_trace(*parse_json(test::readFile(trace).toStdString(), "trace"), "trace");
        QVERIFY(back.has_value());
        QCOMPARE(back->spans.size(), timeline.scene().barCount());
        // For paper the dark picture is the light one.
        const QString light = test::Home::the().path(QStringLiteral("bars.png")),
                      dark = test::Home::the().path(QStringLiteral("dark.png"));
        w.window.setTheme(ThemeChoice::dark);
        QVERIFY(writePicture(*bars, {640, 400}, dark).has_value());
        QVERIFY(QImage(dark) != QImage(light));
        QVERIFY(writePicture(*bars, {640, 400}, dark, true).has_value());
        QVERIFY(QImage(dark) == QImage(light));
        w.window.setTheme(ThemeChoice::light);
    }

    void aReportIsOnePageOfPdf()
    {
        Fixture w;
        const QString file = test::Home::the().path(QStringLiteral("report.pdf"));
        QVERIFY(w.open(QStringLiteral("report.plan.json")));
        QVERIFY(QTest::qWaitFor([&] { return w.window.document().isAnswered(); }, 30'000));
        QVERIFY(writeReport(w.window.planPage().report(), file).has_value());
        const QByteArray pdf = test::readFile(file);
        QVERIFY(pdf.startsWith("%PDF"));
        QCOMPARE(pdf.count("/Type /Page\n"), 1);
        // Paper is white, also for who works in the dark.
        auto* bars = w.window.findChild<MemoryBars*>();
        QImage light;
        for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) // a sheet that comes anew moves borders
            w.window.setTheme(theme);
        QVERIFY(QTest::qWaitFor([&] { // laid out, and drawn twice alike
            const QImage now = bars->grab().toImage();
            return std::exchange(light, now) == now;
        }));
        w.window.setTheme(ThemeChoice::dark);
        QVERIFY(themeOf(bars).dark);
        {
            const LightFor paper(*bars);
            QVERIFY(bars->grab().toImage() == light);
        }
        QVERIFY(themeOf(bars).dark);
        w.window.setTheme(ThemeChoice::light);
        QVERIFY(bars->grab().toImage() == light);
        QVERIFY(!writeReport(ReportPage(), test::Home::the().path(QStringLiteral("empty.pdf"))).has_value());
        QVERIFY(!QFile::exists(test::Home::the().path(QStringLiteral("empty.pdf"))));
        // The same paper for who has the window at twice the size.
        const auto undated = [](const QByteArray& text) {
            QByteArrayList lines = text.split('\n');
            lines.removeIf([](const QByteArray& line) { return line.contains("Date") || line.contains("xmp:"); });
            return lines.join('\n');
        };
        w.window.setUiZoom(200);
        const QSize size = w.window.size();
        QVERIFY(writeReport(w.window.planPage().report(), file).has_value());
        QCOMPARE(zoom(), 200);
        QCOMPARE(w.window.size(), size);
        w.window.setUiZoom(100);
        QCOMPARE(undated(test::readFile(file)).size(), undated(pdf).size());
    }

    void everyPictureHasATable()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("table.plan.json")));
        QVERIFY(QTest::qWaitFor([&] { return w.window.document().isAnswered(); }, 30'000));
        int tables = 0;
        for (const Card* card : w.window.planPage().findChildren<Card*>()) {
            if (card->title().isEmpty() || !card->isVisible())
                continue; // what is not on show is filled when it is
            const Table table = card->table();
            QVERIFY2(!table.columns.empty() && !table.rows.empty(), qPrintable(card->title()));
            QVERIFY2((card->focusPolicy() & Qt::StrongFocus) == Qt::StrongFocus, qPrintable(card->title()));
            TableModel model(table);
            const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
            QCOMPARE(model.rowCount(), int(table.rows.size()));
            ++tables;
        }
        QVERIFY(tables >= 3);
        auto* bars = w.window.findChild<MemoryBars*>();
        copyTable(bars->table());
        QVERIFY(QApplication::clipboard()->text().startsWith(QStringLiteral("Stage\tWeights GiB")));
        QVERIFY(QApplication::clipboard()->mimeData()->hasHtml());
        for (const char* ending : {"csv", "md", "tex", "json"}) {
            const QString file = test::Home::the().path(QStringLiteral("bars-table.") + QLatin1String(ending));
            QVERIFY(writeTable(bars->table(), file).has_value());
            QVERIFY(!test::readFile(file).isEmpty());
        }
        QVERIFY(!writeTable(bars->table(), test::Home::the().path(QStringLiteral("bars-table.xls"))).has_value());
    }

    void chartsAreReadByKeys()
    {
        LineChart chart(QStringLiteral("Loss"), {}, &Theme::accent);
        chart.setNames(QStringLiteral("Training"), QStringLiteral("Held-out"));
        chart.setPoints({{1, 4}, {2, 3}, {3, 2}});
        chart.setBand({{1, 3}, {2, 2}, {3, 1}}, {{1, 5}, {2, 4}, {3, 3}}, QStringLiteral("Least to most"));
        chart.setDots({{2, 3.5}});
        chart.resize(400, 260);
        chart.show();
        QImage before = chart.grab().toImage();
        QVERIFY(chart.accessibleDescription().contains(QStringLiteral("3 points")));
        QTest::keyClick(&chart, Qt::Key_Right);
        QVERIFY(chart.grab().toImage() != before);
        // What the keys stand on is told instead of the whole.
        QVERIFY2(chart.accessibleDescription().contains(QStringLiteral("Training")),
            qPrintable(chart.accessibleDescription()));
        const Table table = chart.table();
        QCOMPARE(table.columns.size(), 5u);
        QCOMPARE(table.rows.size(), 4u);
    }

    void numbersHaveADecimalPoint()
    {
        QCOMPARE(QString::fromStdString(shown_number(1234.5, 1)), QStringLiteral("1,234.5"));
        QCOMPARE(std::strtod("1.5", nullptr), 1.5);
        QDoubleSpinBox box;
        box.setValue(1.5);
        QCOMPARE(box.text(), QStringLiteral("1.50"));
        QSpinBox whole;
        whole.setMaximum(1'000'000);
        whole.setGroupSeparatorShown(true);
        whole.setValue(16384);
        QCOMPARE(whole.text(), QStringLiteral("16,384"));
        whole.clear();
        QTest::keyClicks(&whole, QStringLiteral("8192"));
        QCOMPARE(whole.value(), 8192);
    }

    void numbersHaveADecimalPointInAGermanDesktop()
    {
        const QTemporaryDir locales;
        QVERIFY(QProcess::execute(QStringLiteral("localedef"),
                    {QStringLiteral("-i"), QStringLiteral("de_DE"), QStringLiteral("-f"), QStringLiteral("UTF-8"),
                        locales.filePath(QStringLiteral("de_DE.UTF-8"))})
            == 0); // package locales
        QProcess german;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("LOCPATH"), locales.path());
        environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("de_DE.UTF-8"));
        german.setProcessEnvironment(environment);
        german.start(QCoreApplication::applicationFilePath(), {QStringLiteral("numbersHaveADecimalPoint")});
        QVERIFY(german.waitForFinished(120000));
        QVERIFY2(german.exitCode() == 0, german.readAllStandardOutput().constData());
    }
};

int main(int argc, char** argv)
{
    return test::runTests<ShellTest>(argc, argv);
}

#include "shell_test.moc"
