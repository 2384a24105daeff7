// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/hundred_steps_report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace fourfold::testing {

namespace {

// Points of the picture.
constexpr double kWidth = 300, kHeight = 190, kMargin = 40;
constexpr int kColumns = 3;

std::string number(double value, const char* format)
{
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string line_of(const std::vector<double>& losses, double low, double high, const char* look)
{
    std::string points;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const double x
            = kMargin + (kWidth - 2 * kMargin) * double(i) / double(std::max<std::size_t>(losses.size() - 1, 1));
        const double y = kHeight - kMargin - (kHeight - 2 * kMargin) * (losses[i] - low) / (high - low);
        points += number(x, "%.1f") + "," + number(y, "%.1f") + " ";
    }
    return "<polyline fill=\"none\" " + std::string(look) + " points=\"" + points + "\"/>\n";
}

std::string words(double x, double y, const std::string& text, const char* more = "")
{
    return "<text x=\"" + number(x, "%.0f") + "\" y=\"" + number(y, "%.0f") + "\" " + more + ">" + text + "</text>\n";
}

// Ours wide and pale, theirs thin and dark upon it: both are seen where they are equal.
std::string panel(const LossesBeside& both)
{
    const auto [low, high] = std::minmax_element(both.theirs.begin(), both.theirs.end());
    return "<rect x=\"40\" y=\"40\" width=\"220\" height=\"110\" fill=\"none\" stroke=\"#999999\"/>\n"
        + line_of(both.ours, *low, *high, "stroke=\"#7fb2e5\" stroke-width=\"6\"")
        + line_of(both.theirs, *low, *high, "stroke=\"#1a1a1a\" stroke-width=\"1.2\"")
        + words(kMargin, 30, both.family + ", " + both.mesh, "font-weight=\"bold\"")
        + words(36, 46, number(*high, "%.2f"), "text-anchor=\"end\"")
        + words(36, 152, number(*low, "%.2f"), "text-anchor=\"end\"") + words(kMargin, 166, "step 1")
        + words(260, 166, "step " + std::to_string(both.theirs.size()), "text-anchor=\"end\"");
}

} // namespace

bool write_losses_page(const std::filesystem::path& page, const std::vector<LossesBeside>& families)
{
    std::filesystem::path picture = page;
    picture.replace_extension(".svg");
    {
        const int rows = (int(families.size()) + kColumns - 1) / kColumns;
        std::ofstream out(picture);
        out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kColumns * kWidth << "\" height=\""
            << rows * kHeight << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
            << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
        for (std::size_t i = 0; i < families.size(); ++i)
            out << "<g transform=\"translate(" << double(i % kColumns) * kWidth << " " << double(i / kColumns) * kHeight
                << ")\">\n"
                << panel(families[i]) << "</g>\n";
        out << "</svg>\n";
        if (!out.flush())
            return false;
    }
    std::ofstream out(page);
    out << "# A hundred steps beside transformers\n"
           "Written by `FOURFOLD_HUNDRED_STEPS_REPORT=resources/reports/beside-transformers.md "
           "build/release/tests/trainer_hundred_steps_test`. Small models of each family begin with the same weights "
           "in the "
           "trainer and in Hugging Face's `transformers` and train on the same tokens. *Largest difference*: of a "
           "step's loss, "
           "relative; in fp32 on one rank.\n\n"
           "![Losses]("
        << picture.filename().string()
        << ")\n\n"
           "Wide and pale: the trainer's; thin and dark: those of `transformers`.\n\n"
           "| family | trainer's ranks | step 1 | 25 | 50 | 75 | 100 | largest difference, fp64 | fp32 |\n"
           "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (const LossesBeside& both : families) {
        out << "| " << both.family << " | " << both.mesh << " |";
        for (const std::size_t step : {1U, 25U, 50U, 75U, 100U})
            out << " " << (step <= both.ours.size() ? number(both.ours[step - 1], "%.6f") : "-") << " |";
        out << " " << number(both.worst, "%.1e") << " | " << number(both.worst_fp32, "%.1e") << " |\n";
    }
    return bool(out.flush());
}

} // namespace fourfold::testing
