// SPDX-License-Identifier: GPL-3.0-or-later
// Tables, pictures and reports as files, with the questions that come before.
#pragma once

#include "core/report/report_page.h"
#include "core/report/table/table.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace fourfold::tui {

class Desk;

// What else than a table a picture can be: .svg, .pdf and .png, a timeline .trace.json, too.
struct Picture {
    // Empty: there is none. The size that was asked for, or none.
    std::function<Expected<void>(const std::filesystem::path&, const std::optional<PictureSize>&)> write;
    bool is_timeline = false;
    Picture() = default;
    Picture(const ListedStep& step, const std::string& title);
    explicit Picture(std::function<Chart()> chart); // as it is once the name is typed
};

class Exports {
public:
    explicit Exports(Desk& desk) // outlives it
        : desk_(desk)
    {
    }

    // A table into a file of any of the formats, or its picture, by the name's ending; "x.png 1600x900" says its size.
    // Without columns there is no table.
    void ask(const std::string& what, std::function<Table()> table, Picture picture = {});
    void show_table(const std::string& title, Table table); // over the page
    void ask_for_report(std::function<ReportPage()> page); // a page of PDF

private:
    void write_once_asked(const std::filesystem::path& file, std::function<Expected<void>()> write); // over another

    Desk& desk_;
};

} // namespace fourfold::tui
