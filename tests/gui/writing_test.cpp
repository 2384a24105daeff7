// SPDX-License-Identifier: GPL-3.0-or-later
// Names in other writings than Latin, and the window from right to left.
#include "app/desktop/command_palette.h"
#include "app/desktop/page_stack.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/plan/plan_workspace.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/text/text_line.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QGlyphRun>
#include <QListView>
#include <QSpinBox>
#include <QTabBar>
#include <QTextLayout>

#include <algorithm>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
QTextLine lineOf(QTextLayout& layout)
{
    layout.beginLayout();
    const QTextLine line = layout.createLine();
    layout.endLayout();
    return line;
}

// How many signs of a text would be drawn as boxes.
int boxesIn(const QString& text, const QFont& font)
{
    QTextLayout layout(text, font);
    lineOf(layout);
    qsizetype boxes = 0;
    for (const QGlyphRun& run : layout.glyphRuns()) {
        const QList<quint32> glyphs = run.glyphIndexes();
        boxes += std::count(glyphs.begin(), glyphs.end(), 0U);
    }
    return static_cast<int>(boxes);
}

void names()
{
    QTest::addColumn<QString>("name");
    QTest::newRow("Chinese") << QStringLiteral("\u5927\u6a21\u578b\u8bad\u7ec3\u8ba1\u5212");
    QTest::newRow("Japanese") << QStringLiteral("\u5927\u898f\u6a21\u30e2\u30c7\u30eb\u306e\u5b66\u7fd2");
    QTest::newRow("Korean") << QStringLiteral("\ub300\uaddc\ubaa8 \ubaa8\ub378 \ud559\uc2b5 \uacc4\ud68d");
    QTest::newRow("Arabic") << QStringLiteral("\u062e\u0637\u0629 \u062a\u062f\u0631\u064a\u0628");
    QTest::newRow("Hebrew") << QStringLiteral("\u05ea\u05db\u05e0\u05d9\u05ea \u05d0\u05d9\u05de\u05d5\u05df");
}

struct Mirrored {
    Mirrored() { QApplication::setLayoutDirection(Qt::RightToLeft); }
    ~Mirrored() { QApplication::setLayoutDirection(Qt::LeftToRight); }
};
} // namespace

class WritingTest : public QObject {
    Q_OBJECT
private slots:
    void aSignThatNoFontHasIsFound() // the measure itself
    {
        QVERIFY(boxesIn(QStringLiteral("a\U0010fffd"), QApplication::font()) > 0);
        QCOMPARE(boxesIn(QStringLiteral("plan"), QApplication::font()), 0);
    }

    void namesAreWrittenAndMeasured_data() { names(); }
    void namesAreWrittenAndMeasured()
    {
        QFETCH(QString, name);
        const QFont font = QApplication::font();
        QCOMPARE(boxesIn(name, font), 0);
        // As wide as it is drawn: what is fitted to a text and what is shortened go by this.
        QTextLayout layout(name, font);
        const double drawn = lineOf(layout).naturalTextWidth();
        QVERIFY(drawn > 20);
        QVERIFY(std::abs(QFontMetricsF(font).horizontalAdvance(name) - drawn) < 1.5);
        QVERIFY(std::abs(lineWidth(font, name) - drawn) < 1.5);
        const QString cut = elidedLine(font, name, static_cast<int>(drawn) - 6, Qt::ElideRight);
        QVERIFY(cut != name && lineWidth(font, cut) <= drawn - 6);

        test::WindowFixture w({}, {1440, 870});
        QByteArray plan = test::clusterPlan();
        plan.replace("Llama 3.1 8B on 16 H100", name.toUtf8());
        const QString file = name + QStringLiteral(".plan.json");
        QVERIFY(w.open(file, plan));
        QVERIFY(w.answered());
        QVERIFY(w.open(QStringLiteral("beside.plan.json")));
        QVERIFY(w.answered());
        QCOMPARE(w.window.workspace().tabs().tabText(0), file);
        for (const QString& page : {QStringLiteral("plan"), QStringLiteral("compare")}) {
            w.window.showPage(page);
            QTRY_VERIFY_WITH_TIMEOUT(
                page == QLatin1String("plan") || w.window.comparePage().model().entries().size() == 2, test::kPatience);
            QStringList faults;
            const auto isReadable = [&] { return (faults = test::unreadableTexts(w.window)).isEmpty(); };
            QVERIFY2(QTest::qWaitFor(isReadable, 3000), qPrintable(faults.join(QLatin1Char('\n'))));
        }
    }

    void aWindowFromRightToLeftIsMirroredAndReadable()
    {
        const Mirrored mirrored;
        test::WindowFixture w({}, {1440, 870});
        QVERIFY(w.open(QStringLiteral("mirrored.plan.json")));
        QVERIFY(w.answered());
        const auto left = [&](const QWidget* widget) { return widget->mapTo(&w.window, QPoint()).x(); };
        QVERIFY(left(w.child<QSpinBox>("layout.tp")) > left(w.window.planPage().figures().front()));
        // Pictures are not: their axes run to the right.
        QCOMPARE(w.window.planPage().figures().front()->layoutDirection(), Qt::LeftToRight);
        QVERIFY(
            w.window.historyPage().importTable(FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv"));
        for (const QString& page : PageStack::ids()) {
            w.window.showPage(page);
            QStringList faults;
            const auto isReadable = [&] { return (faults = test::unreadableTexts(w.window)).isEmpty(); };
            QVERIFY2(QTest::qWaitFor(isReadable, 3000),
                qPrintable(page + QLatin1Char('\n') + faults.join(QLatin1Char('\n'))));
        }
        CommandPalette palette(CommandPalette::commandsOf(&w.window, {}), &w.window);
        palette.show();
        const auto* list = palette.findChild<QListView*>();
        const std::vector<test::DrawnText> texts = test::drawnTexts(*list->viewport());
        QVERIFY(texts.size() > 10);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            for (std::size_t k = 0; k < i; ++k)
                QVERIFY2(!texts[i].box.adjusted(1, 4, -1, -4).intersects(texts[k].box.adjusted(1, 4, -1, -4)),
                    qPrintable(texts[i].text + QStringLiteral(" over ") + texts[k].text));
        }
    }
};

int main(int argc, char** argv)
{
    return test::runTests<WritingTest>(argc, argv);
}

#include "writing_test.moc"
