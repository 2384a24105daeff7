// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold guide [CHAPTER]`: the user's guide that the desktop shows, as text for a terminal or as the Markdown it is.
#include "app/cli/command.h"
#include "app/view/guide.h"
#include "core/base/text.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fourfold::cli {

namespace {

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

struct Chapter : view::GuideChapter {
    std::string words; // of title and file name, in small letters with blanks around each
};

Expected<std::vector<Chapter>> chapters_of_the_guide()
{
    FOURFOLD_TRY(std::vector<view::GuideChapter> all, view::guide_chapters());
    std::vector<Chapter> chapters;
    for (view::GuideChapter& chapter : all) {
        const std::string words = words_between_blanks(chapter.title + " " + chapter.name);
        chapters.push_back({std::move(chapter), words});
    }
    return chapters;
}

// "5 Train on a cluster (12 lines) or ...": the three with most lines that have one of these words, of the chapters
// that have them all. Words of up to three letters count where there are no others ("how do I resume").
std::string chapters_that_tell_of(const std::vector<Chapter>& chapters, const std::string& asked)
{
    constexpr std::size_t kShort = 3, kMost = 3;
    std::vector<std::string> all, words;
    std::istringstream in(words_between_blanks(asked));
    for (std::string word; in >> word;) {
        if (word.find_first_not_of("0123456789") == std::string::npos)
            continue; // a chapter that there is not
        all.push_back(word);
        if (word.size() > kShort)
            words.push_back(word);
    }
    if (words.empty())
        words = all;
    std::vector<std::pair<std::size_t, std::string>> found; // lines, and the chapter in words
    for (const Chapter& chapter : chapters) {
        const std::string text = words_between_blanks(chapter.text);
        const auto has = [](const std::string& where) {
            return [&where](const std::string& word) { return where.find(" " + word) != std::string::npos; };
        };
        if (words.empty() || !std::ranges::all_of(words, has(text)))
            continue;
        std::istringstream lines(chapter.text);
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line);)
            count += std::ranges::any_of(words, has(words_between_blanks(line))) ? 1 : 0;
        found.emplace_back(count,
            std::to_string(chapter.number) + " " + chapter.title + " (" + std::to_string(count)
                + (count == 1 ? " line)" : " lines)"));
    }
    std::ranges::stable_sort(found, std::greater<>(), &std::pair<std::size_t, std::string>::first);
    std::vector<std::string> told;
    for (std::size_t i = 0; i < std::min(kMost, found.size()); ++i)
        told.push_back(found[i].second);
    return joined(told, " or ");
}

// The chapter of a number, of a whole title, of words of a title, or of a part of one; the first of these that one has.
Expected<const Chapter*> chapter_called(const std::vector<Chapter>& chapters, const std::string& asked)
{
    const std::string words = words_between_blanks(asked);
    const std::string part = words.size() > 2 ? words.substr(1, words.size() - 2) : "?";
    const bool number = asked.find_first_not_of("0123456789") == std::string::npos && asked.size() < 5;
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
    // Told within chapters, or nearest by any word of their titles.
    if (const std::string told = chapters_that_tell_of(chapters, asked); !told.empty())
        return Problem{
            ProblemCode::bad_input, "is not a chapter of the guide", "it is told in " + told, in_quotes(asked)};
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
    if (pager.find_first_not_of(" \t\n") == std::string::npos) // a shell would read nothing and say nothing
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
        = printable_lines(view::guide_text(chapter->text, std::max<std::size_t>(known ? size.ws_col : 80, 20)));
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
