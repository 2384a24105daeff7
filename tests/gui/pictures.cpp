// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of every mode with real numbers, made by clicks: the README's, and others to look at after a change.
//   gui_pictures FOLDER [--dark] [--zoom PERCENT] [--scale FACTOR] [--trainer FILE]
// With a fourfold-trainer the tiny Llama is trained and measured on this computer, which takes two minutes.
#include "app/desktop/pages/compare_charts.h"
#include "app/desktop/pages/compare_page.h"
#include "app/desktop/pages/history_page.h"
#include "app/desktop/pages/plan_page.h"
#include "app/desktop/pages/run_details.h"
#include "app/desktop/pages/runs_page.h"
#include "app/desktop/pages/search_page.h"
#include "app/desktop/pages/sweep_view.h"
#include "app/desktop/widgets/heat_map.h"
#include "app/desktop/widgets/timeline_view.h"
#include "app/models/published.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCommandLineParser>
#include <QMessageBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>

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
        // 256 colours: a window has few, and a README is fetched by many.
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
             std::pair("Bounds", "plan-bounds"), std::pair("Advice", "plan-advice")}) {
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
    w.window.showPage(MainWindow::Page::search);
    click(*w.child<QPushButton>("search"));
    until([&] { return !w.window.searchPage().service().isRunning(); }, kPatience);
    camera.take(w.window, "search");
}

void takeCompare(WindowFixture& w, const Camera& camera)
{
    w.window.showPage(MainWindow::Page::compare);
    ComparePage& page = w.window.comparePage();
    auto* results = w.child<QTableView>("results");
    std::vector<ResolvedPlan> plans;
    w.window.showPage(MainWindow::Page::search);
    for (const int row : {0, 3, 9}) {
        results->setCurrentIndex(results->model()->index(row, 0));
        QTest::keyClick(results, Qt::Key_P);
    }
    QTest::keyClick(results, Qt::Key_C);
    until([&] { return page.model().entries().size() >= 4; }, kPatience);
    camera.take(w.window, "compare");
    w.open(QStringLiteral("llama-3.1-8b.plan.json"), clusterPlan());
    w.answered();
    w.window.showPage(MainWindow::Page::compare);
    if (const Expected<MeasuredTable> table = readTable(kTable, w.presets))
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
    w.window.showPage(MainWindow::Page::runs);
    camera.take(w.window, "runs-assistant");
    click(*w.child<QPushButton>("checkNodes"));
    until([&] { return !w.window.controller().isRunning(); }, kPatience);
    camera.take(w.window, "runs-nodes");
    type(*w.child<QSpinBox>("steps"), 60);
    auto* tabs = w.window.runsPage().findChild<RunDetails*>()->findChild<QTabBar*>(QStringLiteral("cardSwitch"));
    clickTab(*tabs, QStringLiteral("Events"));
    click(*w.child<QPushButton>("start"));
    until([&] { return w.window.liveRun().totalSteps() > 0 && w.window.liveRun().step() >= 45; }, kRunPatience);
    camera.take(w.window, "runs");
    until([&] { return !w.window.controller().isRunning(); }, kRunPatience);
    clickTab(*tabs, QStringLiteral("Trace"));
    camera.take(w.window, "runs-trace");
}

void takeHistory(WindowFixture& w, const Camera& camera)
{
    w.window.showPage(MainWindow::Page::history);
    w.window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv");
    camera.take(w.window, "history");
}
} // namespace

int main(int argc, char** argv)
{
    const Home home;
    QCommandLineParser parser;
    const QCommandLineOption dark(QStringLiteral("dark")), zoom(QStringLiteral("zoom"), {}, QStringLiteral("PERCENT")),
        trainer(QStringLiteral("trainer"), {}, QStringLiteral("FILE"));
    parser.addOptions({dark, zoom, trainer});
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
    if (parser.isSet(trainer))
        takeRuns(w, camera);
    takeHistory(w, camera);
    return 0;
}
