// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/guide.h"

#include "core/base/input_file.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/report/table/table.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

namespace fourfold::view {

Expected<std::vector<GuideChapter>> guide_chapters()
{
    std::vector<GuideChapter> chapters;
    for (const std::filesystem::path& folder : resource_folders()) {
        std::error_code none;
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder / "guide", none)) {
            if (entry.path().extension() == ".md")
                files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const std::filesystem::path& file : files) {
            FOURFOLD_TRY(std::string text, read_text_file(file));
            const std::string name = file.stem().string();
            std::string title = text.substr(0, text.find('\n'));
            title.erase(0, title.find_first_not_of("# "));
            chapters.push_back(
                {std::atoi(name.c_str()), title, name.substr(std::min<std::size_t>(2, name.size())), std::move(text)});
        }
        if (!chapters.empty())
            return chapters; // the first folder that has a guide has all of it, as in the desktop
    }
    return Problem{ProblemCode::not_found, "did not come with this program", "install the package again", "the guide"};
}

namespace {
std::string without_marks(const std::string& text)
{
    static const std::regex kLink(R"(!?\[([^\]]*)\]\([^)]*\))"), kStrong(R"(\*\*([^*]+)\*\*)"),
        kEmphasis(R"((^|[ (])\*([^* ][^*]*)\*)");
    std::string out;
    bool code = false; // what stands between backticks stays as it is
    for (std::size_t at = 0; at <= text.size(); code = !code) {
        const std::size_t end = std::min(text.find('`', at), text.size());
        const std::string piece = text.substr(at, end - at);
        out += code ? piece
                    : std::regex_replace(
                        std::regex_replace(std::regex_replace(piece, kLink, "$1"), kStrong, "$1"), kEmphasis, "$1$2");
        at = end + 1;
    }
    return out;
}

// `text` in lines of `width`, the first behind `first`, the others behind as many blanks.
std::string wrapped(const std::string& text, const std::string& first, std::size_t width)
{
    const std::string indent(display_width(first), ' ');
    std::string out, line = first;
    bool any = false;
    std::istringstream in(text);
    for (std::string word; in >> word; any = true) {
        if (any && display_width(line) + 1 + display_width(word) > width) {
            out += line + "\n";
            line = indent;
            any = false;
        }
        line += any ? " " + word : word;
    }
    return out + line + "\n";
}

std::vector<std::string> cells_of(const std::string& row)
{
    std::vector<std::string> cells;
    std::istringstream in(row.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) {
        const std::size_t begin = cell.find_first_not_of(' '), end = cell.find_last_not_of(' ');
        cells.push_back(begin == std::string::npos ? "" : without_marks(cell.substr(begin, end - begin + 1)));
    }
    return cells;
}

// The last column is wrapped beside the others, or under them where they leave it too little room.
std::string table_text(const std::vector<std::string>& rows, std::size_t width)
{
    std::vector<std::vector<std::string>> table;
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == 1)
            continue; // | --- | --- |
        table.push_back(cells_of(rows[i]));
        widths.resize(std::max(widths.size(), table.back().size()));
        for (std::size_t c = 0; c < table.back().size(); ++c)
            widths[c] = std::max(widths[c], display_width(table.back()[c]));
    }
    std::size_t before = 0;
    for (std::size_t c = 0; c + 1 < widths.size(); ++c)
        before += widths[c] + 2;
    const bool beside = before + std::min<std::size_t>(widths.empty() ? 0 : widths.back(), width / 2) <= width;
    std::string out;
    for (std::vector<std::string>& row : table) {
        row.resize(widths.size());
        std::string head;
        for (std::size_t c = 0; c + 1 < row.size(); ++c) {
            if (beside)
                head += row[c] + std::string(widths[c] - display_width(row[c]) + 2, ' ');
            else if (!row[c].empty())
                head += (head.empty() ? "" : " | ") + row[c];
        }
        out += beside ? wrapped(row.back(), head, width)
                      : wrapped(head, "", width) + wrapped(row.back(), "    ", width);
    }
    return out;
}
} // namespace

std::string guide_text(const std::string& markdown, std::size_t width)
{
    static const std::regex kItem(R"(^( *)([-*]|[0-9]+\.) +(.*))"), kHeading(R"(^(#+) +(.*))");
    std::string out, paragraph, bullet;
    std::vector<std::string> rows;
    const auto end_of_block = [&] {
        if (!paragraph.empty())
            out += wrapped(without_marks(paragraph), bullet, width);
        if (!rows.empty())
            out += table_text(rows, width);
        paragraph.clear(), bullet.clear(), rows.clear();
    };
    bool code = false;
    std::smatch match;
    std::istringstream in(markdown);
    for (std::string line; std::getline(in, line);) {
        const bool fence = line.starts_with("```");
        if (fence || code || (line.starts_with("    ") && paragraph.empty())) {
            end_of_block();
            if (!fence)
                out += (code ? "    " : "") + line + "\n";
            code = code != fence;
        } else if (line.empty()) {
            end_of_block();
            out += "\n";
        } else if (std::regex_match(line, match, kHeading)) {
            end_of_block();
            const std::string title = without_marks(match[2]);
            out += title + "\n" + std::string(display_width(title), match[1].length() == 1 ? '=' : '-') + "\n";
        } else if (line.starts_with("|")) {
            rows.push_back(line);
        } else if (std::regex_match(line, match, kItem)) {
            end_of_block();
            bullet = match[1].str() + match[2].str() + " ";
            paragraph = match[3];
        } else {
            paragraph += (paragraph.empty() ? "" : " ") + line;
        }
    }
    end_of_block();
    return out;
}

} // namespace fourfold::view
