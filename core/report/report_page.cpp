// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/report_page.h"

#include "core/base/text.h"
#include "core/report/drawing.h"
#include "core/report/timeline_painter.h"

#include <algorithm>

namespace fourfold {

using namespace drawing;

namespace {

constexpr PictureSize kA4{595, 842}; // points
constexpr double kPaperMargin = 45, kPageWidth = 760; // the page is drawn this wide, and smaller onto the paper
constexpr double kScale = (kA4.width - 2 * kPaperMargin) / kPageWidth;
constexpr double kPageHeight = (kA4.height - 2 * kPaperMargin) / kScale;
constexpr double kPartGap = 10, kTextLine = 16, kTableRow = 16, kHeadSize = 18, kLineSize = 11.5, kCellSize = 10.5;

// Broken between words.
std::vector<std::string> broken(cairo_t* cairo, const std::string& text, double width)
{
    std::vector<std::string> lines{""};
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
        if (!lines.back().empty() && text_width(cairo, longer) > width)
            lines.push_back(word);
        else
            lines.back() = longer;
        begin = end + 1;
    }
    return lines;
}

double paint_head(cairo_t* cairo, const ReportPage& page)
{
    font(cairo, kHeadSize, true);
    grey(cairo, 0.1);
    show(cairo, 0, kHeadSize, fitted(cairo, printable(page.title, kUncut), kPageWidth));
    font(cairo, kLineSize);
    grey(cairo, 0.35);
    double y = kHeadSize + 6;
    for (const std::string& text : page.lines) {
        for (const std::string& line : broken(cairo, printable(text, kUncut), kPageWidth))
            show(cairo, 0, y += kTextLine, fitted(cairo, line, kPageWidth));
    }
    return y + kPartGap;
}

// A table that is wider is drawn smaller: paper can be looked at closely, but nothing can be asked for what was cut.
void paint_table(cairo_t* cairo, const Table& table, double row_height)
{
    constexpr double kGap = 12;
    font(cairo, std::min(kCellSize, row_height * 0.7));
    const auto title_of = [&](std::size_t column) {
        return table.columns[column].title.empty() ? table.columns[column].key : table.columns[column].title;
    };
    const auto cell_of = [&](std::size_t row, std::size_t column) {
        return printable(shown(table.rows[row][column], table.columns[column]), kUncut);
    };
    std::vector<double> widths;
    double needed = 0;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        double width = text_width(cairo, title_of(column));
        for (std::size_t row = 0; row < table.rows.size(); ++row)
            width = std::max(width, text_width(cairo, cell_of(row, column)));
        widths.push_back(width + kGap);
        needed += widths.back();
    }
    if (needed < kPageWidth && widths.size() > 1) {
        for (std::size_t column = 1; column < widths.size(); ++column)
            widths[column] += (kPageWidth - needed) / double(widths.size() - 1);
    }
    const double scale = std::min(1.0, kPageWidth / std::max(needed, 1.0));
    const auto line_of = [&](double y, double level, const auto& text) {
        cairo_save(cairo);
        cairo_translate(cairo, 0, y);
        cairo_scale(cairo, scale, scale);
        grey(cairo, level);
        double x = 0;
        for (std::size_t column = 0; column < widths.size(); x += widths[column++]) {
            const double baseline = row_height / scale * 0.7;
            if (column == 0)
                show(cairo, x, baseline, text(column));
            else
                show_left_of(cairo, x + widths[column] - kGap / 2, baseline, text(column));
        }
        cairo_restore(cairo);
    };
    line_of(0, 0.35, title_of);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const double y = double(row + 1) * row_height;
        cairo_set_line_width(cairo, 0.7);
        grey(cairo, 0.85);
        line(cairo, 0, y, kPageWidth, y);
        line_of(y, 0.1, [&](std::size_t column) { return cell_of(row, column); });
    }
}

// Those that have anything to draw.
std::vector<TitledTimeline> titled(const ReportTimelines& timelines)
{
    std::vector<TitledTimeline> shown;
    for (const ReportTimeline& one : timelines) {
        if (one.timeline && !one.timeline->spans.empty())
            shown.push_back({one.timeline.get(), one.title});
    }
    return shown;
}

void paint_part(cairo_t* cairo, const ReportPart& part, const PictureSize& size, double share)
{
    cairo_save(cairo);
    cairo_rectangle(cairo, 0, 0, size.width, size.height);
    cairo_clip(cairo);
    if (const auto* chart = std::get_if<Chart>(&part.what)) {
        paint_chart(cairo, *chart, size);
    } else if (const auto* timelines = std::get_if<ReportTimelines>(&part.what)) {
        const std::vector<TitledTimeline> shown = titled(*timelines);
        const PictureSize own = timelines_picture_size(shown);
        const double scale = std::min(size.width / own.width, size.height / own.height);
        cairo_scale(cairo, scale, scale);
        paint_timelines(cairo, shown, own);
    } else {
        paint_table(cairo, std::get<Table>(part.what), kTableRow * share);
    }
    cairo_restore(cairo);
}

bool is_drawn(const ReportPart& part)
{
    if (const auto* chart = std::get_if<Chart>(&part.what))
        return has_picture(*chart);
    if (const auto* timelines = std::get_if<ReportTimelines>(&part.what))
        return !titled(*timelines).empty();
    return !std::get<Table>(part.what).rows.empty();
}

double height_of(const ReportPart& part)
{
    const auto* table = std::get_if<Table>(&part.what);
    return table ? kTableRow * (double(table->rows.size()) + 1) : part.height;
}

void paint_page(cairo_t* cairo, const ReportPage& page, const std::vector<const ReportPart*>& parts)
{
    cairo_translate(cairo, kPaperMargin, kPaperMargin);
    cairo_scale(cairo, kScale, kScale);
    double y = paint_head(cairo, page);
    const auto besides = [&](std::size_t i) { return i + 1 < parts.size() && parts[i]->half && parts[i + 1]->half; };
    double needed = -kPartGap;
    for (std::size_t i = 0; i < parts.size(); i += besides(i) ? 2 : 1)
        needed += height_of(*parts[i]) + kPartGap;
    const double share = std::clamp((kPageHeight - y) / std::max(1.0, needed), 0.05, 1.0);
    const auto paint = [&](const ReportPart& part, double x, const PictureSize& size) {
        cairo_save(cairo);
        cairo_translate(cairo, x, y);
        paint_part(cairo, part, size, share);
        cairo_restore(cairo);
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double height = height_of(*parts[i]) * share;
        if (besides(i)) {
            const PictureSize half{(kPageWidth - kPartGap) / 2, height};
            paint(*parts[i], 0, half);
            paint(*parts[++i], half.width + kPartGap, half);
        } else {
            paint(*parts[i], 0, {kPageWidth, height});
        }
        y += height + kPartGap * share;
    }
}

} // namespace

Expected<void> check_report_file(const std::filesystem::path& file)
{
    if (file.extension() == ".pdf")
        return {};
    return Problem{ProblemCode::bad_input,
        "cannot write a report to a file ending in '" + file.extension().string() + "'",
        "name a file that ends in .pdf", file.string()};
}

Expected<void> write_report(const ReportPage& page, const std::filesystem::path& file)
{
    FOURFOLD_CHECK(check_report_file(file));
    std::vector<const ReportPart*> parts;
    for (const ReportPart& part : page.parts) {
        if (is_drawn(part))
            parts.push_back(&part);
    }
    if (parts.empty())
        return Problem{
            ProblemCode::failed, "there is nothing to report", "wait until the plan has an answer", file.string()};
    return write_picture(
        kA4, [&](cairo_t* cairo) { paint_page(cairo, page, parts); }, file);
}

} // namespace fourfold
