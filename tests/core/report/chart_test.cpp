// SPDX-License-Identifier: GPL-3.0-or-later
// Charts and reports as pictures: how long, how high and where what is drawn is, counted in pixels.
#include "core/base/json.h"
#include "core/report/chart.h"
#include "core/report/report_page.h"
#include "tests/core/report/pixels.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold {
namespace {

using testing::StartsWith;

std::string plain_number(double value)
{
    return std::to_string(static_cast<long long>(value));
}

std::vector<std::vector<unsigned>> painted(const Chart& chart)
{
    const PictureSize size = picture_size(chart);
    return pixels_of(size, [&](cairo_t* cairo) { paint_chart(cairo, chart, size); });
}

struct Place {
    int left = std::numeric_limits<int>::max(), right = -1, top = std::numeric_limits<int>::max(), bottom = -1;
};
Place place_of(const std::vector<std::vector<unsigned>>& pixels, unsigned rgb, std::size_t from_row = 0)
{
    Place place;
    for (std::size_t y = from_row; y < pixels.size(); ++y) {
        for (std::size_t x = 0; x < pixels[y].size(); ++x) {
            if (pixels[y][x] != rgb)
                continue;
            place.left = std::min(place.left, int(x));
            place.right = std::max(place.right, int(x));
            place.top = std::min(place.top, int(y));
            place.bottom = std::max(place.bottom, int(y));
        }
    }
    return place;
}

constexpr std::size_t kBelowLegend = 80; // of these charts: title, note, legend

TEST(Charts, BarsAreAsLongAsTheirParts)
{
    const BarChart chart{"Bars", "of two kinds", {{"One", okabe::kBlue}, {"Two", okabe::kOrange}},
        {{"a", {1, 3}, "4"}, {"b", {2, 6}, "8"}}, {{10, "10 usable"}}};
    const auto pixels = painted(chart);
    std::map<int, std::pair<int, int>> widths; // blue and orange by row of pixels
    for (std::size_t y = kBelowLegend; y < pixels.size(); ++y) {
        const auto blue = int(std::count(pixels[y].begin(), pixels[y].end(), okabe::kBlue));
        const auto orange = int(std::count(pixels[y].begin(), pixels[y].end(), okabe::kOrange));
        if (blue > 0)
            widths[int(y)] = {blue, orange};
    }
    ASSERT_FALSE(widths.empty());
    const auto [first_blue, first_orange] = widths.begin()->second;
    const auto [last_blue, last_orange] = widths.rbegin()->second;
    EXPECT_NEAR(first_orange, 3 * first_blue, 6);
    EXPECT_NEAR(last_blue, 2 * first_blue, 4);
    EXPECT_NEAR(last_orange, 2 * first_orange, 6);
    const Place limit = place_of(pixels, okabe::kVermilion, kBelowLegend),
                bar = place_of(pixels, okabe::kBlue, kBelowLegend);
    EXPECT_NEAR(limit.right - bar.left, 10 * first_blue, 16) << "the line stands where the scale has it";
}

TEST(Charts, PointsLieWhereTheAxesHaveThem)
{
    PlotChart chart;
    chart.title = "Points";
    chart.x_text = chart.y_text = plain_number;
    chart.series = {{"", okabe::kBlue, ChartSeries::Look::dots, {{0, 0}, {100, 100}}},
        {"", okabe::kOrange, ChartSeries::Look::dots, {{50, 25}}}};
    const auto pixels = painted(chart);
    const Place corners = place_of(pixels, okabe::kBlue), inner = place_of(pixels, okabe::kOrange);
    const double x = (inner.left + inner.right) / 2.0, y = (inner.top + inner.bottom) / 2.0;
    EXPECT_NEAR((x - corners.left) / (corners.right - corners.left), 0.5, 0.01);
    EXPECT_NEAR((corners.bottom - y) / (corners.bottom - corners.top), 0.25, 0.015);
}

TEST(Charts, LinesAreCutAtTheRangeAndBrokenWhereNothingIsKnown)
{
    PlotChart chart;
    chart.x_text = chart.y_text = plain_number;
    chart.x_range = {0, 10};
    chart.series
        = {{"", okabe::kBlue, ChartSeries::Look::line, {{-100, 5}, {4, 5}, {5, std::nan("")}, {6, 5}, {100, 5}}},
            {"", okabe::kOrange, ChartSeries::Look::dots, {{0, 0}, {10, 10}}}};
    const auto pixels = painted(chart);
    const Place ends = place_of(pixels, okabe::kOrange);
    int first = 0, last = 0, inside = 0, gap = 0;
    const int width = ends.right - ends.left;
    for (const auto& row : pixels) {
        for (int i = 0; i < int(row.size()); ++i) {
            if (row[std::size_t(i)] != okabe::kBlue)
                continue;
            first += i < ends.left - 8 ? 1 : 0;
            last += i > ends.right + 8 ? 1 : 0;
            gap += i > ends.left + width * 43 / 100 && i < ends.left + width * 57 / 100 ? 1 : 0;
            ++inside;
        }
    }
    EXPECT_GT(inside, width / 2);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(last, 0);
    EXPECT_EQ(gap, 0) << "nothing is drawn over what is not known";
}

TEST(Charts, StackedColumnsCoverTheirSums)
{
    AreaChart chart;
    chart.kinds = {{"", okabe::kBlue}, {"", okabe::kOrange}};
    chart.top = 10;
    chart.y_text = plain_number;
    for (int i = 0; i < 100; ++i)
        chart.columns.push_back({2, i < 50 ? 1.0 : 6.0});
    const auto counts = counted_colours(painted(chart));
    const double blue = counts.at(okabe::kBlue), orange = counts.at(okabe::kOrange);
    EXPECT_NEAR(orange / blue, (50 * 1 + 50 * 6) / 200.0, 0.05);
}

TEST(Charts, TilesAreAsStrongAsTheirFigures)
{
    TileChart chart;
    chart.columns = {"8", "16"};
    chart.rows = {"one", "two"};
    chart.tiles = {{{"", 0x000000U, 0.25}, {"", 0x000000U, 0.75}}, {{"", {}, 1}, {"", 0x000000U, 0.25}}};
    const auto counts = counted_colours(painted(chart));
    const auto shade = [](double strength) { // black over white
        const auto level = static_cast<unsigned>(std::lround(255 * (1 - strength)));
        return level * 0x010101U;
    };
    const auto of = [&](double strength) {
        int count = 0;
        for (const auto& [colour, number] : counts) {
            if (std::abs(int(colour & 255U) - int(shade(strength) & 255U)) <= 1)
                count += number;
        }
        return count;
    };
    EXPECT_GT(of(0.75), 1000);
    EXPECT_NEAR(double(of(0.25)) / of(0.75), 2, 0.1);
}

TEST(Charts, AreWrittenInThreeFormsAndNeverEmpty)
{
    const test::TemporaryFolder folder;
    const Chart bars = BarChart{"Bars <&>", "", {{"One", okabe::kBlue}}, {{"a", {1}, "1"}}, {}};
    for (const auto& [name, begin] :
        {std::pair{"a.svg", "<?xml"}, std::pair{"a.pdf", "%PDF-"}, std::pair{"a.png", "\x89PNG\r\n"}}) {
        const auto written = export_chart(bars, folder / name);
        ASSERT_TRUE(written) << written.error().line();
        EXPECT_THAT(*read_text_file(folder / name), StartsWith(begin));
    }
    EXPECT_FALSE(export_chart(bars, folder / "a.eps"));
    for (const Chart& nothing : {Chart(BarChart()), Chart(PlotChart()), Chart(AreaChart()), Chart(TileChart())}) {
        const auto written = export_chart(nothing, folder / "empty.svg");
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().message, "there is nothing to draw");
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "empty.svg"));
}

TEST(Reports, AreOnePageOfPdfHoweverMuchThereIs)
{
    const test::TemporaryFolder folder;
    ReportPage page{"A report", {"of words", std::string(600, 'x'), "word " + std::string(500, 'y')}, {}};
    EXPECT_FALSE(write_report(page, folder / "a.pdf")) << "nothing is on it";
    page.parts.push_back({Chart(PlotChart()), 200});
    EXPECT_FALSE(write_report(page, folder / "a.pdf")) << "nothing is drawn on it";
    EXPECT_FALSE(std::filesystem::exists(folder / "a.pdf"));
    Table table;
    table.columns = {{"name", "Name"}, {"value", "Value", 1}};
    for (int i = 0; i < 30; ++i)
        table.rows.push_back({std::string("row"), double(i)});
    page.parts.push_back({table});
    const BarChart bars{"Bars", "", {{"One", okabe::kBlue}}, {{"a", {1}, "1"}, {"b", {2}, "2"}}, {}};
    for (int i = 0; i < 8; ++i)
        page.parts.push_back({Chart(bars), 250, i % 2 == 0});
    const auto written = write_report(page, folder / "a.pdf");
    ASSERT_TRUE(written) << written.error().line();
    const std::string pdf = *read_text_file(folder / "a.pdf");
    EXPECT_THAT(pdf, StartsWith("%PDF-"));
    EXPECT_NE(pdf.find("/Count 1"), std::string::npos) << "one page";
    EXPECT_FALSE(write_report(page, folder / "a.png"));
}

} // namespace
} // namespace fourfold
