// SPDX-License-Identifier: GPL-3.0-or-later
// What a day's work with the window once stumbled over, each with the step that showed it.
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/models/search/results_model.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QChartView>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
struct Fixture : test::WindowFixture {
    Fixture()
        : WindowFixture({}, {1440, 870}) // of a screen of 1440 x 900
    {
        open(QStringLiteral("mends.plan.json"));
        answered();
    }
    // A small part of the space.
    void search(const QString& where)
    {
        window.showPage(QStringLiteral("search"));
        child<QLineEdit>("constraint")->setText(where);
        test::click(*child<QPushButton>("search"));
        QVERIFY(QTest::qWaitFor([&] { return !window.searchPage().service().isRunning(); }, test::kPatience));
        QVERIFY(results().model()->rowCount() > 3);
    }
    QTableView& results() { return *child<QTableView>("results"); }
};

const QString kSmall = QStringLiteral("pp == 1 and recompute == none and micro_batch <= 2");

// The texts at the left of a chart that are numbers: of its axis.
QStringList axisTexts(QWidget& chart, int right)
{
    QStringList texts;
    for (const test::DrawnText& drawn : test::drawnTexts(chart)) {
        bool number = false;
        QString(drawn.text).remove(QLatin1Char(',')).toDouble(&number);
        if (number && drawn.box.right() < right)
            texts << (drawn.cut || drawn.box.left() < 0 ? QStringLiteral("cut: ") + drawn.text : drawn.text);
    }
    return texts;
}
} // namespace

class MendsTest : public QObject {
    Q_OBJECT
private slots:
    void aNewSearchIsInTheOrderThatWasAskedFor()
    {
        Fixture w;
        w.search(kSmall);
        w.results().sortByColumn(ResultsModel::memory, Qt::DescendingOrder);
        w.search(kSmall + QStringLiteral(" and tp <= 8"));
        QCOMPARE(w.results().horizontalHeader()->sortIndicatorSection(), int(ResultsModel::place));
        QCOMPARE(w.results().horizontalHeader()->sortIndicatorOrder(), Qt::AscendingOrder);
        QCOMPARE(w.results().model()->index(0, ResultsModel::place).data().toString(), QStringLiteral("1"));
    }

    void axesKeepTheirLeadingDigit()
    {
        LineChart lines(QStringLiteral("Throughput"), {}, &Theme::accent);
        lines.setPoints({{1, 11'234}, {2, 8'765}, {3, 14'321}});
        ComparisonChart bars(QStringLiteral("Throughput"), QString());
        bars.showBars({QStringLiteral("one"), QStringLiteral("two")},
            {{QStringLiteral("Predicted"), &Theme::forward, Card::Fill::solid, {12'345, 8'765}}}, false,
            QStringLiteral("tokens/s"));
        for (Card* chart : {static_cast<Card*>(&lines), static_cast<Card*>(&bars)}) {
            chart->resize(460, 300);
            chart->show();
            QTest::qWait(50);
            QStringList texts = axisTexts(*chart, 100);
            for (auto* view : chart->findChildren<QChartView*>())
                texts += axisTexts(*view->viewport(), 100);
            const QString all = texts.join(QLatin1Char(' '));
            QVERIFY2(!all.contains(QStringLiteral("cut")), qPrintable(all));
            QVERIFY2(all.contains(QStringLiteral("10,000")) || all.contains(QStringLiteral("10000")), qPrintable(all));
        }
    }
};

int main(int argc, char** argv)
{
    return test::runTests<MendsTest>(argc, argv);
}

#include "mends_test.moc"
