// SPDX-License-Identifier: GPL-3.0-or-later
// Twice the size on a screen of 1920 x 1200, by the window's zoom and by the screen's own scale: every page and dialog
// fits, and no text is cut or lies over another. In the quick tests only by the zoom.
#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTreeView>

using namespace fourfold;
using namespace fourfold::ui;
using namespace fourfold::ui::test;

namespace {
constexpr QSize kRoom{1920, 1160}; // of the screen, less a title bar
constexpr int kSettling = 5000; // ms
const char* const kTable = FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv";

QByteArray preset(const char* id)
{
    return readFile(QStringLiteral(FOURFOLD_SOURCE_DIR "/presets/plans/%1.plan.json").arg(QLatin1String(id)));
}

// A window at a zoom, in the room that is left to it. On a screen with a scale of 2 the same room is half as many
// logical pixels, at 100 %.
struct Fixture : WindowFixture {
    explicit Fixture(int percent)
        : WindowFixture({}, kRoom * percent / 200)
        , room(kRoom * percent / 200)
    {
        window.setUiZoom(percent);
    }
    ~Fixture() { window.setUiZoom(100); }

    // What is wrong with what is on show once it has settled; empty: nothing.
    QString faults(const QString& what)
    {
        QTest::qWait(150); // pictures that wait for the page to be on show
        QString found;
        // A busy machine lays out late: only what stays is a fault.
        return QTest::qWaitFor([&] { return (found = look(what)).isEmpty(); }, kSettling) ? QString() : found;
    }
    QString look(const QString& what)
    {
        QStringList lines
            = unreadableTexts(window) + shortenedWithoutTip(window) + withoutRoom(*window.centralWidget());
        const QSize least = window.minimumSizeHint();
        if (least.width() > room.width() || least.height() > room.height())
            lines << QStringLiteral("needs %1 x %2").arg(least.width()).arg(least.height());
        return lines.isEmpty() ? QString() : what + QStringLiteral(":\n  ") + lines.join(QStringLiteral("\n  "));
    }
    QSize room;
};

// The first modal dialog that `open` shows: what is wrong with it. It is closed then.
QString faultsOfDialog(const char* what, QSize room, const std::function<void()>& open)
{
    QStringList lines{QStringLiteral("did not come")};
    const WhenDialog<QDialog> look(
        [&](QDialog& dialog) {
            QTest::qWait(100);
            const auto is_readable = [&] {
                lines = unreadableTexts(dialog) + shortenedWithoutTip(dialog);
                if (dialog.width() > room.width() || dialog.height() > room.height())
                    lines << QStringLiteral("is %1 x %2").arg(dialog.width()).arg(dialog.height());
                return lines.isEmpty();
            };
            (void)QTest::qWaitFor(is_readable, kSettling); // `lines` keeps what the last look found
            dialog.reject();
        },
        50);
    open();
    return lines.isEmpty() ? QString()
                           : QString::fromLatin1(what) + QStringLiteral(": ") + lines.join(QLatin1Char('\n'));
}

void zooms()
{
    QTest::addColumn<int>("percent");
    QTest::newRow("zoom 200 %") << 200;
    if (!qEnvironmentVariableIsSet("FOURFOLD_EVERY_ZOOM"))
        return;
    QTest::newRow("zoom 150 %, 1440 x 870") << 150; // a laptop
    QTest::newRow("a screen with a scale of 2") << 100;
}
} // namespace

class ScaleTest : public QObject {
    Q_OBJECT
private slots:
    void thePlanIsReadable_data() { zooms(); }
    void thePlanIsReadable()
    {
        QFETCH(int, percent);
        Fixture w(percent);
        QVERIFY(w.open(QStringLiteral("scale.plan.json"), preset("llama-3.1-405b-torchtitan-512")));
        QVERIFY(w.answered());
        QVERIFY(QTest::qWaitFor([&] { return !w.window.planPage().advice().isLooking(); }, kPatience));
        for (const char* picture : {"Timeline", "Rank mesh", "Bounds", "Advice", "Over time", "Per stage"}) {
            w.showPicture(QString::fromLatin1(picture));
            const QString faults = w.faults(QString::fromLatin1(picture));
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
        type(*w.child<QSpinBox>("layout.tp"), 3);
        QString faults = w.faults(QStringLiteral("broken"));
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
        w.window.document().undoStack().undo();
        QVERIFY(w.open(QStringLiteral("second.plan.json"), preset("llama-3.1-8b-tsubame4-16"))); // and tabs
        QVERIFY(w.answered());
        faults = w.faults(QStringLiteral("two plans"));
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
    }

    void searchAndCompareAreReadable_data() { zooms(); }
    void searchAndCompareAreReadable()
    {
        QFETCH(int, percent);
        Fixture w(percent);
        QVERIFY(w.open(QStringLiteral("scale.plan.json")));
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("search"));
        QString faults = w.faults(QStringLiteral("before a search"));
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
        click(*w.child<QPushButton>("search"));
        QVERIFY(QTest::qWaitFor([&] { return !w.window.searchPage().service().isRunning(); }, kPatience));
        faults = w.faults(QStringLiteral("found"));
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
        auto* results = w.child<QTableView>("results");
        for (const int row : {0, 3, 9}) {
            results->setCurrentIndex(results->model()->index(row, 0));
            QTest::keyClick(results, Qt::Key_P);
        }
        QTest::keyClick(results, Qt::Key_C);
        ComparePage& page = w.window.comparePage();
        QVERIFY(QTest::qWaitFor([&] { return page.model().entries().size() >= 4; }, kPatience));
        for (const auto& [view, name] : {std::pair(ComparePage::View::sideBySide, "side by side"),
                 std::pair(ComparePage::View::timelines, "timelines")}) {
            page.showView(view);
            faults = w.faults(QString::fromLatin1(name));
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
        page.showView(ComparePage::View::sweep);
        page.sweep().useTable(kTable);
        QVERIFY(QTest::qWaitFor([&] { return page.sweep().map().grid().diverging; }, kPatience));
        faults = w.faults(QStringLiteral("layouts and GPUs"));
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
    }

    void runsAndHistoryAreReadable_data() { zooms(); }
    void runsAndHistoryAreReadable()
    {
        QFETCH(int, percent);
        Fixture w(percent);
        QVERIFY(w.open(QStringLiteral("this-computer.plan.json"), preset("this-computer")));
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("runs"));
        auto* tabs = w.window.runsPage().findChild<QTabBar*>(QStringLiteral("cardSwitch"));
        for (int tab = 0; tab < tabs->count(); ++tab) {
            if (!tabs->isTabVisible(tab))
                continue;
            tabs->setCurrentIndex(tab);
            const QString faults = w.faults(tabs->tabText(tab));
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
        w.window.showPage(QStringLiteral("history"));
        QVERIFY(
            w.window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
        const QString faults = w.faults(QStringLiteral("history"));
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
    }

    void dialogsAreReadable_data() { zooms(); }
    void dialogsAreReadable()
    {
        QFETCH(int, percent);
        Fixture w(percent);
        QVERIFY(w.open(QStringLiteral("scale.plan.json")));
        QVERIFY(w.answered());
        MainWindow& window = w.window;
        TimelineView& timeline = window.planPage().timeline();
        const std::vector<std::pair<const char*, std::function<void()>>> dialogs{{"about", [&] { showAbout(&window); }},
            {"shortcuts", [&] { window.showKeysDialog(); }}, {"find", [&] { window.findCommand(); }},
            {"export", [&] { askExportPicture(timeline, timeline.title()); }},
            {"table", [&] { showAsTable(&window, timeline.title(), timeline.table()); }},
            {"host key",
                [&] {
                    askHostKey(&window,
                        {"node-17.cluster", "ssh-ed25519", "SHA256:2Zq0xn7u3h2m0vQJt1cXoZy7w6a5c4d3e2f1g0h9i8j"});
                }},
            {"secret",
                [&] {
                    askSecret(&window, {"node-17.cluster", "One-time code:", false});
                }},
            {"problem",
                [&] {
                    showProblem(&window, QStringLiteral("The plan cannot be opened"),
                        {ProblemCode::bad_input, "is not JSON", "see resources/schemas/plan.schema.json",
                            "a/rather/long/path/to/a/folder/of/plans/ours.plan.json"});
                }},
            {"unsaved", [&] { askToSave(&window, QStringLiteral("ours.plan.json")); }},
            {"close", [&] { askAboutRun(&window, true); }}, {"rows", [&] { window.comparePage().addTable(kTable); }}};
        for (const auto& [name, open] : dialogs) {
            const QString faults = faultsOfDialog(name, w.room, open);
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
        window.planPage().figures()[3]->setFocus();
        QTest::keyClick(window.planPage().figures()[3], Qt::Key_Return);
        auto* derivation = window.findChild<DerivationDialog*>();
        QVERIFY(derivation);
        QVERIFY(derivation->width() <= w.room.width() && derivation->height() <= w.room.height());
        const QString faults = unreadableTexts(*derivation).join(QLatin1Char('\n'));
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
        QTest::keyClick(derivation->findChild<QTreeView*>(), Qt::Key_Return); // and back
        QVERIFY(!derivation->isVisible());
    }
};

int main(int argc, char** argv)
{
    // Qt's screen without a display is smaller than any that has twice the size.
    qputenv("QT_QPA_PLATFORM", "offscreen:configfile=" FOURFOLD_SOURCE_DIR "/tests/gui/screen.json");
    return test::runTests<ScaleTest>(argc, argv);
}

#include "scale_test.moc"
