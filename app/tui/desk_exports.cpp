// SPDX-License-Identifier: GPL-3.0-or-later
// Tables, pictures and reports as files, with the questions that come before.
#include "app/tui/desk.h"
#include "app/tui/widgets/table_box.h"
#include "app/view/output.h"
#include "core/report/timeline_export.h"

#include <utility>

namespace fourfold::tui {

void Desk::write_once_asked(const std::filesystem::path& file, std::function<Expected<void>()> write)
{
    if (!succeeded(view::check_output(file)))
        return;
    const auto then = [this, file, write = std::move(write)] {
        if (succeeded(write()))
            tell("Wrote " + file.string(), view::Tone::good);
    };
    std::error_code error;
    if (std::filesystem::exists(file, error))
        confirm("Export", file.string() + " exists.", "write over it", then);
    else
        then();
}

Picture::Picture(const Timeline& timeline, const std::string& title)
    : write([timeline, title](const std::filesystem::path& file) { return export_timeline(timeline, title, file); })
    , is_timeline(true)
{
}

Picture::Picture(std::function<Chart()> chart)
    : write([chart = std::move(chart)](const std::filesystem::path& file) { return export_chart(chart(), file); })
{
}

void Desk::ask_to_export(const std::string& what, std::function<Table()> table, Picture picture)
{
    const std::string endings = std::string(".csv, .md (Markdown), .tex (LaTeX), .json or .txt")
        + (!picture.write             ? ""
                : picture.is_timeline ? "; .svg, .pdf, .png or .trace.json (Chrome trace) for the picture"
                                      : "; .svg, .pdf or .png for the picture");
    auto prompt = std::make_unique<Prompt>("Export " + what, what + ".csv",
        [this, table = std::move(table), picture = std::move(picture), endings](const std::string& text) {
            static constexpr std::pair<const char*, TableFormat> kEndings[]{{".csv", TableFormat::csv},
                {".md", TableFormat::markdown}, {".tex", TableFormat::latex}, {".json", TableFormat::json},
                {".txt", TableFormat::text}};
            const std::filesystem::path file = typed_path(text);
            const bool is_trace = picture.is_timeline && file.filename().string().ends_with(".trace.json");
            if (picture.write && (is_trace || check_picture_file("a picture", file))) {
                write_once_asked(file, [write = picture.write, file] { return write(file); });
                return std::string();
            }
            for (const auto& [known, format] : kEndings) {
                if (file.extension() != known)
                    continue;
                const Table rows = table();
                if (rows.rows.empty())
                    return std::string("there is nothing to write");
                write_once_asked(
                    file, [file, content = rows.write(format)] { return write_file_atomically(file, content); });
                return std::string();
            }
            return "the name ends in " + endings;
        });
    prompt->explain("The ending chooses the form: " + endings);
    open(std::move(prompt));
}

void Desk::show_table(const std::string& title, Table table)
{
    if (table.rows.empty())
        tell("There is nothing to show yet");
    else
        open(std::make_unique<TableBox>(title, std::move(table)));
}

void Desk::ask_to_report(std::function<ReportPage()> page)
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
    open(std::move(prompt));
}

} // namespace fourfold::tui
