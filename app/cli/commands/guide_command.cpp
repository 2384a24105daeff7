// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold guide [CHAPTER]`: the user's guide that the desktop shows, as text for a terminal or as the Markdown it is.
#include "app/cli/command.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <regex>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fourfold::cli {

namespace {

struct Chapter {
    int number;
    std::string title, words, text; // `words`: of title and file name, in small letters with blanks around each
};

std::string words_between_blanks(const std::string& text)
{
    std::string words = " ";
    for (const char c : lower_case(text)) {
        if (static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)))
            words += c;
        else if (words.back() != ' ')
            words += ' ';
    }
    return words.back() == ' ' ? words : words + ' ';
}

Expected<std::vector<Chapter>> chapters_of_the_guide()
{
    std::vector<Chapter> chapters;
    for (const std::filesystem::path& folder : resource_folders()) {
        std::error_code none;
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder / "guide", none)) {
            if (entry.path().extension() == ".md")
                files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const std::filesystem::path& file : files) {
            Expected<std::string> text = read_text_file(file);
            if (!text)
                return text.error();
            const std::string name = file.stem().string();
            std::string title = text->substr(0, text->find('\n'));
            title.erase(0, title.find_first_not_of("# "));
            const std::string words
                = words_between_blanks(title + " " + name.substr(std::min<std::size_t>(2, name.size())));
            chapters.push_back({std::atoi(name.c_str()), title, words, *std::move(text)});
        }
        if (!chapters.empty())
            return chapters; // the first folder that has a guide has all of it, as in the desktop
    }
    return Problem{ProblemCode::not_found, "did not come with this program", "install the package again", "the guide"};
}

// The chapter of a number, of a whole title, of words of a title, or of a part of one; the first of these that one has.
Expected<const Chapter*> chapter_called(const std::vector<Chapter>& chapters, const std::string& asked)
{
    const std::string words = words_between_blanks(asked);
    const std::string part = words.size() > 2 ? words.substr(1, words.size() - 2) : "?";
    const bool number = part.find_first_not_of("0123456789") == std::string::npos && part.size() < 5;
    const std::vector<std::function<bool(const Chapter&)>> ways{
        [&](const Chapter& chapter) { return number && std::atoi(part.c_str()) == chapter.number; },
        [&](const Chapter& chapter) { return words_between_blanks(chapter.title) == words; },
        [&](const Chapter& chapter) { return chapter.words.find(words) != std::string::npos; },
        [&](const Chapter& chapter) { return chapter.words.find(part) != std::string::npos; }};
    for (const auto& way : ways) {
        std::vector<std::string> titles;
        const Chapter* found = nullptr;
        for (const Chapter& chapter : chapters) {
            if (way(chapter)) {
                found = &chapter;
                titles.push_back(std::to_string(chapter.number) + " " + chapter.title);
            }
        }
        if (titles.size() > 1)
            return Problem{ProblemCode::bad_input, "means several chapters: " + joined(titles, "; "), "give a number",
                in_quotes(asked)};
        if (found)
            return found;
    }
    // Nearest by any of its words.
    std::vector<std::string> known, near;
    for (const Chapter& chapter : chapters) {
        std::istringstream in(number ? "" : chapter.words);
        for (std::string word; in >> word;)
            known.push_back(word);
    }
    std::string hint = "`fourfold guide` lists them";
    for (const std::string& word : nearest_words(part, known, 2)) {
        for (const Chapter& chapter : chapters) {
            const std::string title = std::to_string(chapter.number) + " " + chapter.title;
            if (chapter.words.find(" " + word + " ") != std::string::npos
                && std::find(near.begin(), near.end(), title) == near.end() && near.size() < 3)
                near.push_back(title);
        }
    }
    if (!near.empty())
        hint = "did you mean " + joined(near, " or ") + "? " + hint;
    return Problem{ProblemCode::bad_input, "is not a chapter of the guide", hint, in_quotes(asked)};
}

// Markdown as text.

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

std::string terminal_text(const std::string& markdown, std::size_t width)
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

// Where it goes.

bool in_path(const std::string& program)
{
    std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && access((folder + "/" + program).c_str(), X_OK) == 0)
            return true;
    }
    return false;
}

// False when there is no pager, or it could not be started.
bool paged(const std::string& text)
{
    const char* asked = std::getenv("PAGER");
    const std::string pager = asked ? asked : in_path("less") ? "less" : "";
    if (pager.empty())
        return false;
    setenv("LESS", "FRX", 0); // ends by itself where all fits on the screen
    std::cout.flush();
    std::FILE* pipe = popen(pager.c_str(), "w");
    if (!pipe)
        return false;
    const auto before = std::signal(SIGINT, SIG_IGN); // Ctrl-C is the pager's
    std::fwrite(text.data(), 1, text.size(), pipe);
    const int status = pclose(pipe);
    std::signal(SIGINT, before);
    return !WIFEXITED(status) || (WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127);
}

Expected<int> guide(const std::string& asked)
{
    FOURFOLD_TRY(const auto chapters, chapters_of_the_guide());
    if (asked.empty()) {
        for (const Chapter& chapter : chapters)
            std::cout << (chapter.number < 10 ? " " : "") << chapter.number << "  " << chapter.title << "\n";
        return kDone;
    }
    FOURFOLD_TRY(const auto chapter, chapter_called(chapters, asked));
    if (!isatty(STDOUT_FILENO)) {
        std::cout << chapter->text;
        return kDone;
    }
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const std::string text
        = printable_lines(terminal_text(chapter->text, std::max<std::size_t>(known ? size.ws_col : 80, 20)));
    if (!paged(text))
        std::cout << text;
    return kDone;
}

} // namespace

void add_guide(Cli& cli)
{
    auto* command = cli.app.add_subcommand("guide", "List the chapters of the user's guide, or print one");
    command->footer(
        "On a terminal the chapter is shown by $PAGER, else by less where there is one; into a file or a pipe\n"
        "it goes as Markdown.");
    const auto asked = std::make_shared<std::vector<std::string>>();
    command->add_option("CHAPTER", *asked, "its number, or words of its title");
    command->callback([&cli, asked] { cli.chosen = [asked] { return guide(joined(*asked, " ")); }; });
}

} // namespace fourfold::cli
