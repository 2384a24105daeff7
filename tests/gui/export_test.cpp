// SPDX-License-Identifier: GPL-3.0-or-later
// What is written of pictures and tables: the whole of them, told when it fails, and told apart when it is read again.
#include "app/desktop/dialogs/report_export.h"
#include "app/desktop/look/sized_for.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"
#include "app/view/compare/published.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/support.h"

#include <QHelpEvent>
#include <QImage>
#include <QToolTip>
#include <QVBoxLayout>

#include <array>

using namespace fourfold;
using namespace fourfold::ui;
using namespace fourfold::ui::test;

namespace {
// Pixels of a colour that only the bars have, the legend's square aside.
int pixelsOf(const QImage& image, const QColor& color)
{
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x)
            count += image.pixelColor(x, y) == color ? 1 : 0;
    }
    return count;
}

// Rectangles of a PDF that are too wide for a legend: the bars of its charts.
int barsIn(const QByteArray& pdf)
{
    const QByteArray begin = "stream\n", end = "endstream";
    int count = 0;
    for (qsizetype at = pdf.indexOf(begin); at >= 0; at = pdf.indexOf(begin, at)) {
        at += begin.size();
        const qsizetype stop = pdf.indexOf(end, at);
        const QByteArray packed = pdf.mid(at, stop - at);
        at = stop + end.size();
        if (!packed.startsWith('\x78'))
            continue; // not packed
        // Four bytes of a length, which may be too small.
        for (const QByteArray& line : qUncompress(QByteArray(4, '\0') + packed).split('\n')) {
            const QByteArrayList words = line.trimmed().split(' ');
            count += words.size() == 5 && words.last() == "re" && words[2].toDouble() > 100 ? 1 : 0;
        }
    }
    return count;
}

std::vector<BarSet> twoBars()
{
    return {{QStringLiteral("Predicted"), &Theme::forward, Card::Fill::solid, {100, 200}}};
}
} // namespace

class ExportTest : public QObject {
    Q_OBJECT
private slots:
    void chartsAreInTheirPictures()
    {
        ComparisonChart chart(QStringLiteral("Throughput"), QString());
        chart.resize(500, 300);
        chart.showBars({QStringLiteral("first"), QStringLiteral("second")}, twoBars(), false, QStringLiteral("TPS"));
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        const QString png = Home::the().path(QStringLiteral("chart.png"));
        QVERIFY(writePicture(chart, {700, 400}, png).has_value());
        const int blue = pixelsOf(QImage(png), lightTheme().forward);
        QVERIFY2(blue > 20'000, qPrintable(QString::number(blue)));
        const QString svg = Home::the().path(QStringLiteral("chart.svg"));
        QVERIFY(writePicture(chart, {700, 400}, svg).has_value());
        QVERIFY(readFile(svg).contains("second"));
    }

    void aPictureHasOneSetOfAxes()
    {
        ComparisonChart chart(QStringLiteral("Throughput"), QString());
        chart.resize(500, 300);
        chart.showBars({QStringLiteral("first"), QStringLiteral("second")}, twoBars(), false, QStringLiteral("TPS"));
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        const QString svg = Home::the().path(QStringLiteral("axes.svg"));
        const auto hasAxes = [&](const QSize& size, const char* first, const char* last) {
            applyTheme(ThemeChoice::dark);
            const bool written = writePicture(chart, size, svg, true).has_value(); // in other colours it is built anew
            applyTheme(ThemeChoice::light);
            const QByteArray text = readFile(svg);
            return written && text.count(first) == 1 && text.count(last) == 1
                && text.contains(lightTheme().grid.name().toLatin1())
                && !text.contains(darkTheme().grid.name().toLatin1());
        };
        QVERIFY(hasAxes(chart.size(), ">250<", ">1 first<"));
        QVERIFY(hasAxes({700, 400}, ">250<", ">1 first<"));
        chart.showCurves(
            {{QStringLiteral("plan"), {{8, 100}, {64, 90}}, false}}, QStringLiteral("GPUs"), QStringLiteral("TPS"));
        QVERIFY(hasAxes(chart.size(), ">GPUs<", ">64<"));
        QVERIFY(hasAxes({700, 400}, ">GPUs<", ">64<"));
        // Few ticks where there is little room, rather than dots instead of numbers.
        QVERIFY(writePicture(chart, {400, 200}, svg).has_value());
        QVERIFY(!readFile(svg).contains(">...<"));
    }

    void barsAndPointsHaveTips()
    {
        ComparisonChart chart(QStringLiteral("Throughput"), QString());
        chart.resize(500, 300);
        chart.showBars({QStringLiteral("first"), QStringLiteral("a name that is longer than the room under a bar")},
            twoBars(), false, QStringLiteral("TPS"));
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        const auto told = [&](const QPoint& at) {
            const QString nothing = QStringLiteral("no tip"); // one that is taken away goes a moment later
            QToolTip::showText({}, nothing, &chart);
            QHelpEvent help(QEvent::ToolTip, at, chart.mapToGlobal(at));
            QApplication::sendEvent(&chart, &help);
            return QToolTip::text() == nothing ? QString() : QToolTip::text();
        };
        QVERIFY2(told({180, 200}).contains(QStringLiteral("Predicted: 100.0 TPS")), qPrintable(told({180, 200})));
        QVERIFY(told({400, 280}).contains(QStringLiteral("longer than the room under a bar")));
        QVERIFY(told({400, 20}).isEmpty());
        chart.showCurves(
            {{QStringLiteral("plan"), {{8, 100}, {64, 90}}, false}}, QStringLiteral("GPUs"), QStringLiteral("TPS"));
        QCoreApplication::processEvents();
        QStringList tips;
        for (int x = 0; x < chart.width(); x += 4) {
            for (int y = 40; y < chart.height(); y += 4)
                tips << told({x, y});
        }
        tips.removeDuplicates();
        tips.removeAll(QString());
        QVERIFY2(tips
                == (QStringList{QStringLiteral("plan\n8 GPUs: 100.0 TPS"), QStringLiteral("plan\n64 GPUs: 90.00 TPS")}),
            qPrintable(tips.join(QLatin1Char('|'))));
    }

    void timelinesAreVectors()
    {
        Timeline timeline{2, 8, {}};
        for (int i = 0; i < 8; ++i)
            timeline.spans.push_back({i % 2, i < 4 ? SpanKind::forward : SpanKind::backward, i, 0, double(i), i + 0.9});
        for (const int stage : {0, 1})
            timeline.spans.push_back({stage, SpanKind::gradient_reduce, -1, 0, 6.5, 7.5});
        QWidget both;
        auto* column = new QVBoxLayout(&both);
        std::array<TimelineView*, 2> views{new TimelineView, new TimelineView};
        for (TimelineView* view : views) {
            column->addWidget(view);
            view->showTimeline(TimelineScene(timeline), QStringLiteral("test"), 16);
        }
        both.resize(1200, 600);
        both.show();
        QVERIFY(QTest::qWaitForWindowExposed(&both));
        views[0]->setFocus();
        const QString svg = Home::the().path(QStringLiteral("both.svg"));
        QVERIFY(writePicture(both, {1200, 700}, svg).has_value());
        const QByteArray text = readFile(svg);
        QVERIFY(!text.contains("<image")); // vectors, not a photograph
        QVERIFY(!text.contains("W/S zoom")); // help for who sits before the window
        QVERIFY(text.count(lightTheme().forward.name().toLatin1()) >= 2 * (4 + 1)); // each bar, and the legend
        QCOMPARE(text.count(">Stage 1<"), 2);
        // In rows and overview a bar is one rectangle, also where another bar of its row shares the height; each view
        // has a square in its legend.
        const QByteArray forward = "fill=\"" + lightTheme().forward.name().toLatin1() + '"';
        QCOMPARE(text.count(forward), 2 * (4 + 4 + 1));
        // The picture of pixels agrees with it in what it has.
        const QString png = Home::the().path(QStringLiteral("one.png"));
        QVERIFY(writePicture(*views[0], {600, 300}, png).has_value());
        QVERIFY(pixelsOf(QImage(png), lightTheme().forward) > 5000);
    }

    void rowsOfAComparisonAreToldApart()
    {
        WindowFixture w;
        QVERIFY(w.open(QStringLiteral("named.plan.json")));
        w.window.show();
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("compare"));
        ComparePage& page = w.window.comparePage();
        const Expected<MeasuredTable> table
            = view::read_table(FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv", w.presets);
        QVERIFY(table.has_value());
        page.addRows(*table, {0, 1});
        QTRY_COMPARE(page.model().entries().size(), std::size_t(3));
        const Table rows = page.model().table();
        QStringList titles, ids;
        for (const Column& column : rows.columns)
            titles << fromUtf8(column.title);
        QStringList once = titles;
        once.removeDuplicates();
        QVERIFY2(once == titles, qPrintable(titles.join(QLatin1Char('|'))));
        for (const char* title : {"Predicted tokens/s per GPU", "Measured tokens/s per GPU", "Predicted step time s",
                 "Optimizer GiB", "Optimizer s"})
            QVERIFY2(titles.contains(QLatin1String(title)), title);
        const auto at = static_cast<std::size_t>(titles.indexOf(QStringLiteral("Identity")));
        for (const std::vector<Cell>& row : rows.rows)
            ids << fromUtf8(shown(row[at], rows.columns[at]));
        QVERIFY(ids[1] != ids[2] && ids[1].startsWith(fromUtf8(table->name)));
    }

    // Nothing can be asked of paper: no text of a report ends in an ellipsis.
    void whatIsOnPaperIsWhole()
    {
        WindowFixture w;
        QVERIFY(w.open(QStringLiteral("paper.plan.json")) && w.answered());
        const ReportPage page = w.window.planPage().report();
        QStringList cut;
        int texts = 0;
        for (const ReportPart& part : page.parts) {
            if (!part.widget)
                continue;
            const SizedFor sized(*part.widget, {760, part.height});
            QList<QWidget*> drawn = part.widget->findChildren<QWidget*>();
            drawn << part.widget;
            for (QWidget* widget : drawn) {
                for (const DrawnText& one : drawnTexts(*widget)) {
                    ++texts;
                    if (one.text.contains(QChar(0x2026)))
                        cut << one.text;
                }
            }
        }
        QVERIFY(texts > 30);
        QCOMPARE(cut.join(QLatin1Char('\n')), QString());
    }

    void chartsAreInTheReport()
    {
        WindowFixture w;
        QVERIFY(w.open(QStringLiteral("report.plan.json")));
        w.window.show();
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("compare"));
        QTRY_COMPARE(w.window.comparePage().model().entries().size(), std::size_t(1));
        ReportPage page = w.window.comparePage().report();
        const QString file = Home::the().path(QStringLiteral("report.pdf"));
        QVERIFY(writeReport(page, file).has_value());
        QVERIFY2(barsIn(readFile(file)) >= 6, qPrintable(QString::number(barsIn(readFile(file)))));
        w.window.setUiZoom(200); // paper is as large as ever
        QVERIFY(writeReport(w.window.comparePage().report(), file).has_value());
        w.window.setUiZoom(100);
        QVERIFY2(barsIn(readFile(file)) >= 6, qPrintable(QString::number(barsIn(readFile(file)))));
    }
};

int main(int argc, char** argv)
{
    return runTests<ExportTest>(argc, argv);
}

#include "export_test.moc"
