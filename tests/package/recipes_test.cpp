// SPDX-License-Identifier: GPL-3.0-or-later
// The diffs of *Extending*: what they leave or take away stands in the sources, what they add is not there yet, and the
// statistics beneath count them.
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

namespace fourfold {
namespace {

using Lines = std::vector<std::string>;

struct Change {
    std::string from, to; // files; `from` is empty for a new one
    std::vector<Lines> before; // of each piece, what it leaves or takes away
    int added = 0, removed = 0;
};

std::string path_of(const std::string& line)
{
    const std::string path = line.substr(4);
    return path == "/dev/null" ? "" : path.substr(2);
}

// One for each file of the fenced diff that begins after `at`, which moves to its end.
std::vector<Change> read_diff(const Lines& lines, std::size_t& at)
{
    std::vector<Change> changes;
    for (++at; at < lines.size() && lines[at] != "```"; ++at) {
        const std::string& line = lines[at];
        if (line.starts_with("--- ") && at + 1 < lines.size() && lines[at + 1].starts_with("+++ ")) {
            changes.push_back({path_of(line), path_of(lines[at + 1]), {}, 0, 0});
            ++at;
        } else if (changes.empty()) {
            ADD_FAILURE() << "a diff that names no file: " << line;
        } else if (line.starts_with("@@")) {
            changes.back().before.emplace_back();
        } else if (line.starts_with("+")) {
            ++changes.back().added;
        } else {
            changes.back().removed += line.starts_with("-") ? 1 : 0;
            changes.back().before.back().push_back(line.empty() ? "" : line.substr(1));
        }
    }
    return changes;
}

bool has_piece(const Lines& file, const Lines& piece)
{
    return std::search(file.begin(), file.end(), piece.begin(), piece.end()) != file.end();
}

TEST(Recipes, TheirDiffsFitTheSources)
{
    const Lines guide = project_lines("resources/guide/19-extending.md"), files = project_files();
    int checked = 0;
    for (std::size_t at = 0; at < guide.size(); ++at) {
        if (guide[at] != "```diff")
            continue;
        for (const Change& change : read_diff(guide, at)) {
            ++checked;
            if (change.to != change.from) {
                EXPECT_EQ(std::ranges::count(files, change.to), 0) << change.to << " is there already";
            }
            const Lines source = change.from.empty() ? Lines() : project_lines(change.from);
            for (const Lines& piece : change.before)
                EXPECT_TRUE(piece.empty() || has_piece(source, piece))
                    << change.from << " has not any more, line after line:\n"
                    << (piece.empty() ? "" : piece.front()) << "\n...";
        }
    }
    EXPECT_GE(checked, 30);
}

// Rows and sums agree, and where the diff is shown, a row counts its lines.
TEST(Recipes, TheirStatisticsCountWhatIsShown)
{
    static const std::regex kRow(R"(^    (\S+) +\| +(\d+) [+-]+$)"),
        kSum(R"(^    (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$)");
    const Lines guide = project_lines("resources/guide/19-extending.md");
    std::map<std::string, Change> shown; // of the section, by file
    int rows = 0, lines = 0, sums = 0, compared = 0;
    for (std::size_t at = 0; at < guide.size(); ++at) {
        std::smatch part;
        const auto number = [&](std::size_t group) { return part[group].matched ? std::stoi(part[group]) : 0; };
        if (guide[at].starts_with("## ")) {
            shown.clear();
        } else if (guide[at] == "```diff") {
            for (Change& change : read_diff(guide, at))
                shown[change.to] = std::move(change);
        } else if (std::regex_match(guide[at], part, kRow)) {
            ++rows;
            lines += number(2);
            const auto found = shown.find(part[1]);
            // A copy is shown by what differs.
            if (found == shown.end() || (!found->second.from.empty() && found->second.from != found->second.to))
                continue;
            EXPECT_EQ(number(2), found->second.added + found->second.removed) << guide[at];
            ++compared;
        } else if (std::regex_match(guide[at], part, kSum)) {
            EXPECT_EQ(number(1), rows) << guide[at];
            EXPECT_EQ(number(2) + number(3), lines) << guide[at];
            rows = lines = 0;
            ++sums;
        }
    }
    EXPECT_GE(sums, 10);
    EXPECT_GE(compared, 30);
}

} // namespace
} // namespace fourfold
