// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/exports.h"

#include "app/tui/desk.h"
#include "app/tui/widgets/table_box.h"
#include "app/view/output.h"
#include "core/base/text.h"
#include "core/report/timeline_export.h"

#include <algorithm>
#include <regex>
#include <utility>

namespace fourfold::tui {

void Exports::write_once_asked(const std::filesystem::path& file, std::function<Expected<void>()> write)
{
    if (!desk_.succeeded(view::check_output(file)))
        return;
    const auto then = [this, file, write = std::move(write)] {
        if (desk_.succeeded(write()))
            desk_.tell("Wrote " + file.string(), view::Tone::good);
    };
    std::error_code error;
    if (std::filesystem::exists(file, error))
        desk_.confirm("Export", file.string() + " exists.", "write over it", then);
    else
        then();
}

Picture::Picture(const ListedStep& step, const std::string& title)
    : write([timeline = step.timeline, steady = step.steady, title](
                const std::filesystem::path& file, const std::optional<PictureSize>& asked) {
        return export_timeline({timeline, steady}, title, file, asked);
    })
    , is_timeline(true)
{
}

Picture::Picture(std::function<Chart()> chart)
    : write([chart = std::move(chart)](const std::filesystem::path& file, const std::optional<PictureSize>& asked) {
        return export_chart(chart(), file, asked);
    })
{
}

namespace {
struct Wanted {
    std::filesystem::path file;
    std::optional<PictureSize> size;
    std::string problem;
};

// "x.png", "x.png 1600x900", "x.png 1600 x 900": what ends so and begins with the name of a picture has a size.
Wanted wanted_of(const std::string& typed)
{
    static const std::regex kSized(R"((.*\.(?:svg|pdf|png))\s+(\d{1,6})\s*x\s*(\d{1,6})\s*)");
    std::smatch parts;
    if (!std::regex_match(typed, parts, kSized))
        return {typed_path(typed), {}, {}};
    const int width = std::stoi(parts[2]), height = std::stoi(parts[3]);
    Wanted wanted{typed_path(parts[1]), PictureSize{double(width), double(height)}, {}};
    if (std::min(width, height) < kLeastPicture || std::max(width, height) > kMostPicture)
        wanted.problem = text_of("a picture has %d to %d points each way", kLeastPicture, kMostPicture);
    return wanted;
}
} // namespace

void Exports::ask(const std::string& what, std::function<Table()> table, Picture picture)
{
    const bool picture_has_size = static_cast<bool>(picture.write);
    std::string endings = table ? ".csv, .md (Markdown), .tex (LaTeX), .json or .txt" : "";
    if (picture.write)
        endings += std::string(endings.empty() ? "" : "; ")
            + (picture.is_timeline ? ".svg, .pdf, .png or .trace.json (Chrome trace) for the picture"
                                   : ".svg, .pdf or .png for the picture");
    const std::string offered = what + (table ? ".csv" : ".svg"); // before the table is moved into the prompt
    auto prompt = std::make_unique<Prompt>("Export " + what, offered,
        [this, table = std::move(table), picture = std::move(picture), endings](const std::string& text) {
            const Wanted wanted = wanted_of(text);
            if (!wanted.problem.empty())
                return wanted.problem;
            const std::filesystem::path& file = wanted.file;
            const bool is_trace = picture.is_timeline && file.filename().string().ends_with(".trace.json");
            if (picture.write && (is_trace || check_picture_file("a picture", file))) {
                write_once_asked(file, [write = picture.write, wanted] { return write(wanted.file, wanted.size); });
                return std::string();
            }
            if (const auto format = table_format_of_ending(file.extension().string()); table && format) {
                const Table rows = table();
                if (rows.rows.empty())
                    return std::string("there is nothing to write");
                write_once_asked(
                    file, [file, content = rows.write(*format)] { return write_file_atomically(file, content); });
                return std::string();
            }
            return "the name ends in " + endings;
        });
    prompt->explain("The ending chooses the form: " + endings
        + (picture_has_size ? ". Behind it may stand its size: x.png 1600x900" : ""));
    desk_.open(std::move(prompt));
}

void Exports::show_table(const std::string& title, Table table)
{
    if (table.rows.empty())
        desk_.tell("There is nothing to show yet");
    else
        desk_.open(std::make_unique<TableBox>(title, std::move(table), desk_.keyed("`e` on the page writes it")));
}

void Exports::ask_for_report(std::function<ReportPage()> page)
{
    auto prompt = std::make_unique<Prompt>(
        "Export report", "report.pdf", [this, page = std::move(page)](const std::string& text) {
            const std::filesystem::path file = typed_path(text);
            if (file.extension() != ".pdf")
                return std::string("the name ends in .pdf");
            write_once_asked(file, [page = page(), file] { return write_report(page, file); });
            return std::string();
        });
    prompt->explain("A page of PDF");
    desk_.open(std::move(prompt));
}

} // namespace fourfold::tui
