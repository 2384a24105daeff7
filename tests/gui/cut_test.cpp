// SPDX-License-Identifier: GPL-3.0-or-later
// Every page with something on it, on screens of 1440, 1920, 2560 and 3840 pixels, at 100 to 250 %, from left to right
// and from right to left: no text is cut or lies over another, and nothing is smaller than it needs to be. Which locale
// is the caller's (locale_suite.sh). In the quick tests one corner, without a search.
#include "app/desktop/page_stack.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>

#include <memory>

using namespace fourfold;
using namespace fourfold::ui;
using namespace fourfold::ui::test;

namespace {
constexpr int kSettling = 2000; // ms; a busy machine lays out late: only what stays is a fault
constexpr int kTitleBar = 30;
// Of the screen at 100 %: from here on the window fits it, below it is larger than the screen.
constexpr int kLeastWidth = 960, kLeastHeight = 560;

bool isEverything()
{
    return qEnvironmentVariableIsSet("FOURFOLD_EVERY_ZOOM");
}

QByteArray preset(const char* id)
{
    return readFile(QStringLiteral(FOURFOLD_SOURCE_DIR "/presets/plans/%1.plan.json").arg(QLatin1String(id)));
}
} // namespace

class CutTest : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowFixture> m_fixture;
    WindowFixture& w() { return *m_fixture; }

    // What is wrong with what is on show once it has settled, a line each.
    QStringList faults(const QString& what, QSize room)
    {
        QStringList found;
        const auto look = [&] {
            found = unreadableTexts(w().window) + shortenedWithoutTip(w().window)
                + withoutRoom(*w().window.centralWidget());
            const QSize least = w().window.minimumSizeHint();
            const int percent = w().window.session().zoom;
            const bool mustFit
                = room.width() * 100 >= kLeastWidth * percent && room.height() * 100 >= kLeastHeight * percent;
            if (mustFit && (least.width() > room.width() || least.height() > room.height()))
                found << QStringLiteral("needs %1 x %2").arg(least.width()).arg(least.height());
            return found.isEmpty();
        };
        QTest::qWait(60); // pictures that wait for the page to be on show
        (void)QTest::qWaitFor(look, kSettling);
        for (QString& line : found)
            line.prepend(what + QStringLiteral(": "));
        return found;
    }

    QStringList faultsOfEveryPage(QSize screen, int percent)
    {
        const QSize room(screen.width(), screen.height() - kTitleBar);
        w().window.setUiZoom(100);
        w().window.resize(room);
        w().window.setUiZoom(percent);
        QStringList found;
        for (const QString& page : PageStack::ids()) {
            w().window.showPage(page);
            const QString where = QStringLiteral("%1 at %2 %").arg(page).arg(percent);
            if (page == QLatin1String("plan")) {
                for (const char* picture :
                    {"Rank mesh", "Bounds", "Advice", "Budget", "Over time", "Timeline", "Per stage"}) {
                    w().showPicture(QString::fromLatin1(picture));
                    found << faults(where + QLatin1Char(' ') + QLatin1String(picture), room);
                }
            } else if (page == QLatin1String("compare") && isEverything()) {
                for (const auto view :
                    {ComparePage::View::sideBySide, ComparePage::View::timelines, ComparePage::View::sweep}) {
                    w().window.comparePage().showView(view);
                    found << faults(where + QStringLiteral(" view %1").arg(int(view)), room);
                }
            } else if (page == QLatin1String("runs")) {
                auto* tabs = w().window.pages().currentWidget()->findChild<QTabBar*>(QStringLiteral("cardSwitch"));
                for (int tab = 0; tab < tabs->count(); ++tab) {
                    if (!tabs->isTabVisible(tab))
                        continue;
                    tabs->setCurrentIndex(tab);
                    found << faults(where + QLatin1Char(' ') + tabs->tabText(tab), room);
                }
            } else {
                found << faults(where, room);
            }
        }
        return found;
    }

private slots:
    void initTestCase()
    {
        m_fixture = std::make_unique<WindowFixture>(std::filesystem::path(), QSize(1440, 870));
        QVERIFY(w().open(QStringLiteral("cut.plan.json"), preset("llama-3.1-405b-torchtitan-512")));
        QVERIFY(w().answered());
        QVERIFY(QTest::qWaitFor([&] { return !w().window.planPage().advice().isLooking(); }, kPatience));
        QVERIFY(
            w().window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
        if (!isEverything())
            return;
        QVERIFY(w().open(QStringLiteral("second.plan.json"), preset("llama-3.1-8b-tsubame4-16")));
        QVERIFY(w().answered());
        w().window.showPage(QStringLiteral("search"));
        click(*w().child<QPushButton>("search"));
        QVERIFY(QTest::qWaitFor([&] { return !w().window.searchPage().service().isRunning(); }, kPatience));
        w().window.plans().setCurrent(0);
    }

    void nothingIsCut_data()
    {
        QTest::addColumn<QSize>("screen");
        QTest::addColumn<bool>("mirrored");
        QTest::newRow("1440") << QSize(1440, 900) << false;
        if (!isEverything())
            return;
        QTest::newRow("1920") << QSize(1920, 1080) << false;
        QTest::newRow("2560") << QSize(2560, 1440) << false;
        QTest::newRow("3840") << QSize(3840, 2160) << false;
        QTest::newRow("1440_mirrored") << QSize(1440, 900) << true;
        QTest::newRow("3840_mirrored") << QSize(3840, 2160) << true;
    }

    void nothingIsCut()
    {
        QFETCH(QSize, screen);
        QFETCH(bool, mirrored);
        QApplication::setLayoutDirection(mirrored ? Qt::RightToLeft : Qt::LeftToRight);
        QStringList found;
        for (const int percent : isEverything() ? QList<int>{100, 125, 150, 200, 250} : QList<int>{100})
            found << faultsOfEveryPage(screen, percent);
        QApplication::setLayoutDirection(Qt::LeftToRight);
        w().window.setUiZoom(100);
        QVERIFY2(found.isEmpty(), qPrintable(found.join(QLatin1Char('\n'))));
    }

    void cleanupTestCase() { m_fixture.reset(); }
};

int main(int argc, char** argv)
{
    // Qt's screen without a display is smaller than these, and Qt gives a test five minutes.
    qputenv("QTEST_FUNCTION_TIMEOUT", "1200000");
    qputenv("QT_QPA_PLATFORM", "offscreen:configfile=" FOURFOLD_SOURCE_DIR "/tests/gui/screen_4k.json");
    return test::runTests<CutTest>(argc, argv);
}

#include "cut_test.moc"
