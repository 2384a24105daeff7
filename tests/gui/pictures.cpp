// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of every mode with real numbers, made by clicks: the README's, and others to look at after a change.
//   gui_pictures FOLDER [--dark] [--zoom PERCENT] [--trainer FILE] [--dialogs]
// With a fourfold-trainer the tiny Llama is trained and measured on this computer, once with a rank that is killed,
// which takes some minutes. --dialogs: also every dialog. QT_SCALE_FACTOR=2 for a dense screen.
#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/guide_dialog.h"
#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/runs/run_details.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/pages/runs/sweep_dialog.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/view/compare/published.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCommandLineParser>
#include <QDir>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTimer>

#include <csignal>
#include <cstdio>

using namespace fourfold;
using namespace fourfold::ui;
using namespace fourfold::ui::test;

namespace {
constexpr int kRunPatience = 300'000; // milliseconds
const char* const kLarge = "llama-3.1-405b-torchtitan-512";
const char* const kTable = FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv";

template <typename Condition>
void until(Condition condition, int milliseconds)
{
    if (!QTest::qWaitFor(condition, milliseconds))
        std::fprintf(stderr, "waited in vain; the next picture is not what it should be\n");
}

struct Camera {
    QString folder, ending;
    void take(QWidget& widget, const char* name) const
    {
        QTest::qWait(250); // charts lay themselves out over several turns of the event loop
        const QString file = QStringLiteral("%1/%2%3.png").arg(folder, QString::fromLatin1(name), ending);
        // Opaque and compressed the most: a README is fetched by many.
        const QImage picture = widget.grab().toImage().convertToFormat(QImage::Format_RGB32);
        if (!picture.save(file, "PNG", 0))
            std::fprintf(stderr, "not written: %s\n", qPrintable(file));
    }
};

QByteArray preset(const char* id)
{
    return readFile(QStringLiteral(FOURFOLD_SOURCE_DIR "/presets/plans/%1.plan.json").arg(QLatin1String(id)));
}

void takePlan(WindowFixture& w, const Camera& camera)
{
    w.open(QStringLiteral("llama-3.1-405b.plan.json"), preset(kLarge));
    w.answered();
    until([&] { return !w.window.planPage().advice().isLooking(); }, kPatience);
    camera.take(w.window, "plan");
    for (const auto& [picture, name] : {std::pair("Over time", "plan-over-time"), std::pair("Rank mesh", "plan-mesh"),
             std::pair("Bounds", "plan-bounds"), std::pair("Advice", "plan-advice"),
             std::pair("Budget", "plan-budget")}) {
        w.showPicture(QString::fromLatin1(picture));
        camera.take(w.window, name);
    }
    w.showPicture(QStringLiteral("Timeline"));
    w.showPicture(QStringLiteral("Per stage"));
    type(*w.child<QSpinBox>("layout.tp"), 3);
    camera.take(w.window, "plan-invalid");
    w.document().undoStack().undo();
    w.answered();
}

void takeSearch(WindowFixture& w, const Camera& camera)
{
    w.window.showPage(QStringLiteral("search"));
    click(*w.child<QPushButton>("search"));
    until([&] { return !w.window.searchPage().service().isRunning(); }, kPatience);
    camera.take(w.window, "search");
}

void takeCompare(WindowFixture& w, const Camera& camera)
{
    w.window.showPage(QStringLiteral("compare"));
    ComparePage& page = w.window.comparePage();
    auto* results = w.child<QTableView>("results");
    std::vector<ResolvedPlan> plans;
    w.window.showPage(QStringLiteral("search"));
    for (const int row : {0, 3, 9}) {
        results->setCurrentIndex(results->model()->index(row, 0));
        QTest::keyClick(results, Qt::Key_P);
    }
    QTest::keyClick(results, Qt::Key_C);
    until([&] { return page.model().entries().size() >= 4; }, kPatience);
    camera.take(w.window, "compare");
    page.showView(ComparePage::View::timelines);
    camera.take(w.window, "compare-timelines");
    page.showView(ComparePage::View::sideBySide);
    w.open(QStringLiteral("llama-3.1-8b.plan.json"), clusterPlan());
    w.answered();
    w.window.showPage(QStringLiteral("compare"));
    if (const Expected<MeasuredTable> table = view::read_table(kTable, w.presets))
        page.addSeries(*table);
    until([&] { return page.charts().scaling().seriesCount() >= 2; }, kPatience);
    camera.take(w.window, "compare-scaling");
    page.showView(ComparePage::View::sweep);
    page.sweep().useTable(kTable);
    until([&] { return page.sweep().map().grid().diverging; }, kPatience);
    QTest::qWait(2000);
    camera.take(w.window, "sweep");
    page.showView(ComparePage::View::sideBySide);
}

void takeRuns(WindowFixture& w, const Camera& camera)
{
    w.window.plans().add();
    w.open(QStringLiteral("this-computer.plan.json"), preset("this-computer"));
    w.answered();
    w.window.showPage(QStringLiteral("runs"));
    camera.take(w.window, "runs-assistant");
    click(*w.child<QPushButton>("checkNodes"));
    until([&] { return !w.window.controller().isRunning(); }, kPatience);
    camera.take(w.window, "runs-nodes");
    type(*w.child<QSpinBox>("steps"), 60);
    auto* tabs = w.window.runsPage().findChild<RunDetails*>()->findChild<QTabBar*>(QStringLiteral("cardSwitch"));
    clickTab(*tabs, QStringLiteral("Events"));
    click(*w.child<QPushButton>("start"));
    until([&] { return w.window.liveRun().run().total_steps() > 0 && w.window.liveRun().run().step() >= 45; },
        kRunPatience);
    camera.take(w.window, "runs");
    until([&] { return !w.window.controller().isRunning(); }, kRunPatience);
    clickTab(*tabs, QStringLiteral("Trace"));
    camera.take(w.window, "runs-trace");
}

// A process of the run that carries the rank; 0: none.
pid_t processOf(const QString& run, int rank)
{
    const QByteArray mark = "RANK=" + QByteArray::number(rank), id = run.toUtf8();
    for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
        bool isPid = false;
        const pid_t pid = entry.toInt(&isPid);
        const QByteArray command = isPid ? readFile(QStringLiteral("/proc/%1/cmdline").arg(pid)) : QByteArray();
        if (!command.contains("fourfold-trainer"))
            continue;
        const QByteArray environment = readFile(QStringLiteral("/proc/%1/environ").arg(pid));
        if (environment.split('\0').contains(mark) && command.contains(id))
            return pid;
    }
    return 0;
}

// A rank that is killed, and a small table that is measured.
void takeTroubleAndSweep(WindowFixture& w, const Camera& camera)
{
    LiveRun& live = w.window.liveRun();
    click(*w.child<QPushButton>("start"));
    until([&] { return live.run().state() == RunState::running && live.run().step() >= 8; }, kRunPatience);
    if (const pid_t rank = processOf(live.id(), 2); rank > 0)
        ::kill(rank, SIGKILL);
    else
        std::fprintf(stderr, "rank 2 was not found\n");
    until([&] { return !w.window.controller().isRunning(); }, kRunPatience);
    camera.take(w.window, "runs-failure");

    const WhenDialog<SweepDialog> fill([](SweepDialog& dialog) {
        dialog.findChild<QPlainTextEdit*>(QStringLiteral("sweepLayouts"))
            ->setPlainText(QStringLiteral("tp,cp,pp,micro_batch\n1,1,1,4\n2,1,1,4\n1,2,1,4\n1,1,2,4\n"));
        dialog.findChild<QLineEdit*>(QStringLiteral("sweepGpuCounts"))->setText(QStringLiteral("2,4"));
        dialog.findChild<QSpinBox*>(QStringLiteral("sweepSteps"))->setValue(12);
        click(*dialog.findChild<QPushButton*>(QStringLiteral("sweepStart")));
    });
    click(*w.child<QPushButton>("measureTable"));
    until([&] { return !w.window.controller().isRunning(); }, 2 * kRunPatience);
    camera.take(w.window, "runs-sweep");
}

// The modal dialog that `open` shows, after `milliseconds`; then it is closed.
void takeDialog(const Camera& camera, const char* name, const std::function<void()>& open, int milliseconds = 300)
{
    const WhenDialog<QDialog> look(
        [&](QDialog& dialog) {
            camera.take(dialog, name);
            dialog.reject();
        },
        milliseconds);
    open();
    if (!look.came())
        std::fprintf(stderr, "%s: no dialog came\n", name);
}

void takeDialogs(WindowFixture& w, const Camera& camera)
{
    MainWindow& window = w.window;
    window.showPage(QStringLiteral("plan"));
    w.answered();
    takeDialog(camera, "dialog-about", [&] { showAbout(&window); });
    takeDialog(camera, "dialog-shortcuts", [&] { window.showKeysDialog(); });
    takeDialog(camera, "dialog-find", [&] { window.findCommand(); });
    takeDialog(camera, "dialog-export",
        [&] { askExportPicture(window.planPage().timeline(), window.planPage().timeline().title()); });
    takeDialog(camera, "dialog-table",
        [&] { showAsTable(&window, window.planPage().timeline().title(), window.planPage().timeline().table()); });
    takeDialog(camera, "dialog-host-key", [&] {
        askHostKey(&window, {"node-17.cluster", "ssh-ed25519", "SHA256:2Zq0xn7u3h2m0vQJt1cXoZy7w6a5c4d3e2f1g0h9i8j"});
    });
    takeDialog(camera, "dialog-secret", [&] { askSecret(&window, {"node-17.cluster", "One-time code:", false}); });
    takeDialog(camera, "dialog-problem", [&] {
        showProblem(&window, QStringLiteral("The plan cannot be opened"),
            {ProblemCode::bad_input, "is not JSON", "see resources/schemas/plan.schema.json", "ours.plan.json"});
    });
    takeDialog(camera, "dialog-unsaved", [&] { askToSave(&window, QStringLiteral("ours.plan.json")); });
    takeDialog(camera, "dialog-close", [&] { askAboutRun(&window, true); });
    GuideDialog guide(&window);
    guide.showChapter(2);
    guide.show();
    camera.take(guide, "dialog-guide");
    guide.close();
    window.planPage().figures()[3]->setFocus();
    QTest::keyClick(window.planPage().figures()[3], Qt::Key_Return);
    if (auto* derivation = window.findChild<DerivationDialog*>()) {
        camera.take(*derivation, "dialog-derivation");
        derivation->close();
    }
    takeDialog(camera, "dialog-rows", [&] { window.comparePage().addTable(kTable); });
    window.showPage(QStringLiteral("history"));
    w.child<QTableView>("history")->selectAll();
    takeDialog(
        camera, "dialog-recalibrate", [&] { window.historyPage().recalibrate(); }, 20'000);

    w.open(QStringLiteral("this-computer.plan.json"), preset("this-computer"));
    w.answered();
    window.showPage(QStringLiteral("runs"));
    if (!window.controller().isRunning())
        click(*w.child<QPushButton>("checkNodes"));
    until([&] { return !window.controller().isRunning(); }, kPatience);
    takeDialog(camera, "dialog-cluster", [&] { click(*w.child<QPushButton>("saveNodes")); });
    takeDialog(camera, "dialog-measure", [&] { click(*w.child<QPushButton>("measureTable")); });
    takeDialog(camera, "dialog-launch", [&] { click(*w.child<QPushButton>("preview")); });
    auto* target = w.child<QComboBox>("target");
    target->setCurrentIndex(target->findData(QStringLiteral("hosts")));
    w.child<QLineEdit>("hosts")->setText(QStringLiteral("127.0.0.1:9"));
    click(*w.child<QPushButton>("checkNodes"));
    until([&] { return !window.controller().isRunning(); }, kPatience);
    camera.take(window, "runs-no-node");
    target->setCurrentIndex(0);
}

void takeHistory(WindowFixture& w, const Camera& camera)
{
    w.window.showPage(QStringLiteral("history"));
    w.window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv");
    camera.take(w.window, "history");
}
} // namespace

int main(int argc, char** argv)
{
    const Home home;
    QCommandLineParser parser;
    const QCommandLineOption dark(QStringLiteral("dark")), zoom(QStringLiteral("zoom"), {}, QStringLiteral("PERCENT")),
        trainer(QStringLiteral("trainer"), {}, QStringLiteral("FILE")), dialogs(QStringLiteral("dialogs"));
    parser.addOptions({dark, zoom, trainer, dialogs});
    QApplication application(argc, argv);
    parser.process(application);
    prepareAppearance();
    applyTheme(parser.isSet(dark) ? ThemeChoice::dark : ThemeChoice::light);
    QApplication::setApplicationVersion(QStringLiteral(FOURFOLD_VERSION));
    const int percent = parser.isSet(zoom) ? parser.value(zoom).toInt() : 100;
    Camera camera{parser.positionalArguments().value(0, QStringLiteral(".")),
        parser.isSet(dark) ? QStringLiteral("-dark") : QString()};
    if (percent != 100)
        camera.ending += QStringLiteral("-%1").arg(percent);
    WindowFixture w(parser.value(trainer).toStdString(), QSize(1440, 900) * (percent > 150 ? 1.34 : 1.0));
    w.window.setTheme(parser.isSet(dark) ? ThemeChoice::dark : ThemeChoice::light);
    w.window.setUiZoom(percent);
    takePlan(w, camera);
    takeSearch(w, camera);
    takeCompare(w, camera);
    if (parser.isSet(trainer)) {
        takeRuns(w, camera);
        takeTroubleAndSweep(w, camera);
    }
    takeHistory(w, camera);
    if (parser.isSet(dialogs))
        takeDialogs(w, camera);
    return 0;
}
