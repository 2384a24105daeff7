// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/report_export.h"

#include "app/desktop/look/sized_for.h"
#include "app/desktop/look/theme.h"
#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"
#include "core/base/json.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kDotsPerInch = 96;
constexpr int kWidth = 760; // between the margins of A4 at this resolution, less rounding
constexpr double kMargin = 16; // millimetres at each side
constexpr int kPageGap = 10;
constexpr int kLineHeight = 16;
constexpr int kMostHeadLines = 6; // of one text

// A page of paper is as large as ever, however large the window is shown.
class PaperSize {
public:
    PaperSize()
        : m_before(zoom())
    {
        setZoom(100);
    }
    ~PaperSize() { setZoom(m_before); }
    PaperSize(const PaperSize&) = delete;
    PaperSize& operator=(const PaperSize&) = delete;

private:
    int m_before;
};

int paintHead(QPainter& painter, const ReportPage& page)
{
    const Theme& theme = lightTheme();
    painter.setPen(theme.text);
    QFont bold = scaledFont(4, QFont::DemiBold);
    painter.setFont(bold);
    painter.drawText(QRect(0, 0, kWidth, 26), Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(page.title, Qt::ElideRight, kWidth));
    painter.setFont(scaledFont(-0.5));
    painter.setPen(theme.muted);
    int y = 30;
    for (const QString& line : page.lines) {
        QRect used;
        painter.drawText(QRect(0, y, kWidth, kMostHeadLines * kLineHeight),
            Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, line, &used);
        y += std::clamp(used.height() + 1, kLineHeight, kMostHeadLines * kLineHeight);
    }
    return y + kPageGap;
}

constexpr int kRowHeight = 15;

// Whether a part and the one after it share a line.
bool besides(const ReportPage& page, std::size_t part)
{
    return part + 1 < page.parts.size() && page.parts[part].half && page.parts[part + 1].half;
}

int heightOf(const ReportPart& part)
{
    return part.widget ? part.height : kRowHeight * (static_cast<int>(part.table.rows.size()) + 1);
}

// Every column gets what its texts need, and more where there is room; a table that is wider is drawn smaller: paper
// can be looked at closely, but nothing can be asked for what was cut.
void paintTable(QPainter& painter, const Table& table, int rowHeight)
{
    const Theme& theme = lightTheme();
    painter.setFont(scaledFont(-1.5));
    const QFontMetrics metrics = painter.fontMetrics();
    constexpr int kGap = 12;
    const auto titleOf = [&](std::size_t column) {
        return fromUtf8(table.columns[column].title.empty() ? table.columns[column].key : table.columns[column].title);
    };
    std::vector<double> widths;
    double needed = 0;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        int width = metrics.horizontalAdvance(titleOf(column));
        for (const std::vector<Cell>& row : table.rows)
            width = std::max(width, metrics.horizontalAdvance(fromUtf8(shown(row[column], table.columns[column]))));
        widths.push_back(width + kGap);
        needed += widths.back();
    }
    if (needed < kWidth && widths.size() > 1) {
        for (std::size_t column = 1; column < widths.size(); ++column)
            widths[column] += (kWidth - needed) / double(widths.size() - 1);
    }
    const double scale = std::min(1.0, kWidth / needed);
    const auto line = [&](int y, const auto& textOf, const QColor& ink) {
        painter.save();
        painter.translate(0, y);
        painter.scale(scale, scale);
        painter.setPen(ink);
        double x = 0;
        for (std::size_t column = 0; column < widths.size(); x += widths[column++]) {
            const QRectF cell(x, 0, widths[column] - kGap / 2.0, rowHeight / scale);
            painter.drawText(cell,
                (column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter | Qt::TextSingleLine, textOf(column));
        }
        painter.restore();
    };
    line(0, titleOf, theme.muted);
    int y = rowHeight;
    for (const std::vector<Cell>& row : table.rows) {
        painter.setPen(theme.grid);
        painter.drawLine(0, y, kWidth, y);
        line(
            y, [&](std::size_t column) { return fromUtf8(shown(row[column], table.columns[column])); }, theme.text);
        y += rowHeight;
    }
}
} // namespace

Expected<void> writeReport(const ReportPage& page, const QString& file)
{
    if (page.parts.empty())
        return Problem{
            ProblemCode::failed, "there is nothing to report", "wait until the plan has an answer", file.toStdString()};
    const PaperSize paper;
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter pdf(&buffer);
        pdf.setResolution(kDotsPerInch);
        pdf.setPageSize(QPageSize(QPageSize::A4));
        pdf.setPageMargins({kMargin, kMargin, kMargin, kMargin}, QPageLayout::Millimeter);
        pdf.setTitle(page.title);
        pdf.setCreator(QStringLiteral("Fourfold %1").arg(QCoreApplication::applicationVersion()));
        QPainter painter(&pdf);
        const double scale = pdf.width() / double(kWidth);
        painter.scale(scale, scale);
        int y = paintHead(painter, page);
        int needed = -kPageGap;
        for (std::size_t i = 0; i < page.parts.size(); i += besides(page, i) ? 2 : 1)
            needed += heightOf(page.parts[i]) + kPageGap;
        const double room = pdf.height() / scale - y;
        const double share = std::min(1.0, room / std::max(1, needed));
        const auto draw = [&](const ReportPart& part, QPoint at, QSize size) {
            painter.save();
            painter.translate(at);
            if (part.widget) {
                const LightFor light(*part.widget);
                const SizedFor sized(*part.widget, size);
                part.widget->render(&painter, {}, {}, QWidget::DrawChildren);
            } else {
                paintTable(painter, part.table, static_cast<int>(kRowHeight * share));
            }
            painter.restore();
        };
        for (std::size_t i = 0; i < page.parts.size(); ++i) {
            const ReportPart& part = page.parts[i];
            const int height = part.widget
                ? static_cast<int>(part.height * share)
                : static_cast<int>(kRowHeight * share) * (static_cast<int>(part.table.rows.size()) + 1);
            if (besides(page, i)) {
                const QSize half((kWidth - kPageGap) / 2, height);
                draw(part, {0, y}, half);
                draw(page.parts[++i], {half.width() + kPageGap, y}, half);
            } else {
                draw(part, {0, y}, {kWidth, height});
            }
            y += height + static_cast<int>(kPageGap * share);
        }
    }
    return write_file_atomically(file.toStdString(), bytes.toStdString());
}

} // namespace fourfold::ui
