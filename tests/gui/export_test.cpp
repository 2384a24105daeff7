// SPDX-License-Identifier: GPL-3.0-or-later
// What is written of pictures and tables: the whole of them, told when it fails, and told apart when it is read again.
#include "app/desktop/card_export.h"
#include "app/desktop/pages/compare_page.h"
#include "app/desktop/report_export.h"
#include "app/desktop/widgets/comparison_chart.h"
#include "tests/gui/support.h"

#include <QGraphicsView>
#include <QImage>

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

    void chartsAreInTheReport()
    {
        WindowFixture w;
        QVERIFY(w.open(QStringLiteral("report.plan.json")));
        w.window.show();
        QVERIFY(w.answered());
        w.window.showPage(MainWindow::Page::compare);
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
