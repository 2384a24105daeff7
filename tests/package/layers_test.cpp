// SPDX-License-Identifier: GPL-3.0-or-later
// Dependencies point one way (app -> runner -> core), and each library stays in the room that may know it: checked on
// the compile commands of the build and on the #include lines of the sources.
#include "core/base/json.h"
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace fourfold {
namespace {

// What each library looks like in an #include, and in the -I, -isystem and -D arguments of a compile command.
struct Library {
    const char* name;
    const char* include;
    const char* argument;
};
const Library kQt{"Qt", R"(^(Q[A-Z][A-Za-z]+|Qt[A-Z].*/.*)$)", R"(/qt6(/|$)|^-DQT_)"};
const Library kTorch{"LibTorch", R"(^(torch|ATen|c10|caffe2|gloo)/)",
    R"(/torch/(include|csrc)|/torch/.*/api/include|gloo_shim|USE_C10D)"};
const Library kSsh{"libssh", R"(^libssh/)", R"(libssh|LIBSSH)"};
const Library kSqlite{"SQLite", R"(^(SQLiteCpp/|sqlite3))", R"(SQLiteCpp|SQLITE)"};
const Library kCairo{"Cairo", R"(^cairo)", R"(/cairo(/|$)|CAIRO)"};
const Library kCurses{"curses", R"(^(ncursesw?/)?(curses|ncurses|term)\.h$)", R"(ncurses)"};
const Library kRunner{"runner", R"(^runner/)", nullptr};
const Library kApp{"app", R"(^app/)", nullptr};

struct Rule {
    const char* room; // prefix of the sources
    std::vector<std::string> except; // rooms below it that have a rule of their own
    std::vector<Library> unknown; // what it must know nothing of
};
const std::vector<Rule> kRules{
    {"core/", {"core/history/", "core/report/"}, {kQt, kTorch, kSsh, kSqlite, kCairo, kRunner, kApp}},
    {"core/history/", {}, {kQt, kTorch, kSsh, kCairo, kRunner, kApp}},
    {"core/report/", {}, {kQt, kTorch, kSsh, kSqlite, kRunner, kApp}},
    {"runner/", {"runner/ssh/", "runner/trainer/"}, {kQt, kTorch, kSsh, kSqlite, kApp}},
    {"runner/ssh/", {}, {kQt, kTorch, kSqlite, kApp}},
    {"runner/trainer/", {}, {kQt, kSsh, kSqlite, kApp}},
    {"app/cli/", {}, {kQt, kTorch, kSsh, kSqlite, kCurses}},
    {"app/tui/", {}, {kQt, kTorch, kSsh, kSqlite}},
    {"app/view/", {}, {kQt, kTorch, kSsh, kSqlite, kCurses}},
    {"app/models/", {}, {kTorch, kSsh, kSqlite, kCurses}},
    {"app/desktop/", {}, {kTorch, kSsh, kSqlite, kCurses}},
};

bool applies(const Rule& rule, const std::string& file)
{
    if (!file.starts_with(rule.room))
        return false;
    return std::none_of(
        rule.except.begin(), rule.except.end(), [&](const std::string& room) { return file.starts_with(room); });
}

struct CompileCommand {
    std::vector<std::string> files; // relative to the root; several where they are compiled at once
    std::vector<std::string> arguments; // -I, -isystem and -D, paths of the project relative to its root
};

// A unity source of CMake includes those that it stands for.
std::vector<std::string> sources_of(const std::string& file)
{
    if (!std::filesystem::path(file).filename().string().starts_with("unity_"))
        return {file};
    std::vector<std::string> out;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#include \""))
            out.push_back(line.substr(10, line.size() - 11));
    }
    return out;
}

std::vector<CompileCommand> compile_commands()
{
    const std::string root = std::string(FOURFOLD_SOURCE_DIR) + "/";
    std::vector<CompileCommand> commands;
    const auto database = read_json_file(FOURFOLD_COMPILE_COMMANDS);
    if (!database)
        return commands;
    for (const Json& entry : *database) {
        CompileCommand command;
        for (std::string& file : sources_of(entry.at("file").get<std::string>())) {
            if (file.starts_with(root))
                command.files.push_back(file.substr(root.size()));
        }
        if (command.files.empty())
            continue;
        // The folder of the checkout is of no interest, and may hold blanks.
        std::string text = entry.at("command").get<std::string>();
        std::erase_if(text, [](char c) { return c == '"' || c == '\\'; });
        for (const std::string& place : {root, std::string(FOURFOLD_SOURCE_DIR)}) {
            for (auto at = text.find(place); at != std::string::npos; at = text.find(place, at))
                text.erase(at, place.size());
        }
        std::istringstream words(text);
        for (std::string word; words >> word;) {
            if (word == "-isystem") {
                words >> word;
                word.insert(0, "-isystem");
            }
            if (!word.starts_with("-I") && !word.starts_with("-isystem") && !word.starts_with("-D"))
                continue;
            command.arguments.push_back(word);
        }
        commands.push_back(std::move(command));
    }
    return commands;
}

TEST(Layers, PatternsFindWhatTheyAreMeantToFind)
{
    const auto matches
        = [](const char* pattern, const char* text) { return std::regex_search(text, std::regex(pattern)); };
    EXPECT_TRUE(matches(kQt.include, "QWidget"));
    EXPECT_TRUE(matches(kQt.include, "QtCharts/QChart"));
    EXPECT_FALSE(matches(kQt.include, "core/plan/plan.h"));
    EXPECT_TRUE(matches(kQt.argument, "-isystem/usr/include/x86_64-linux-gnu/qt6/QtCore"));
    EXPECT_TRUE(matches(kQt.argument, "-DQT_CORE_LIB"));
    EXPECT_TRUE(matches(kTorch.include, "ATen/core/Tensor.h"));
    EXPECT_TRUE(matches(kTorch.argument, "-isystem/opt/libtorch-2.11.0/torch/include"));
    EXPECT_FALSE(matches(kTorch.argument, "-I/home/you/torch-planner/fourfold"));
    EXPECT_TRUE(matches(kSsh.include, "libssh/libssh.h"));
    EXPECT_TRUE(matches(kSqlite.include, "SQLiteCpp/SQLiteCpp.h"));
    EXPECT_TRUE(matches(kSqlite.include, "sqlite3.h"));
    EXPECT_TRUE(matches(kCairo.include, "cairo-svg.h"));
    EXPECT_TRUE(matches(kApp.include, "app/cli/options.h"));
    EXPECT_TRUE(matches(kCurses.include, "curses.h"));
    EXPECT_FALSE(matches(kCurses.include, "cursor.h"));
}

// What the pages know of a terminal is a grid of cells.
TEST(Layers, OneFileKnowsCurses)
{
    for (const std::string& file : select(project_files(), "app/", {".h", ".cpp"})) {
        for (const std::string& name : includes(file)) {
            if (file != "app/tui/terminal/screen.cpp") {
                EXPECT_FALSE(std::regex_search(name, std::regex(kCurses.include))) << file << " includes " << name;
            }
        }
    }
}

TEST(Layers, SourcesIncludeOnlyWhatTheirRoomMayKnow)
{
    const auto files = project_files();
    for (const Rule& rule : kRules) {
        int seen = 0;
        for (const std::string& file : select(files, rule.room, {".h", ".cpp", ".cu"})) {
            if (!applies(rule, file))
                continue;
            ++seen;
            for (const std::string& name : includes(file)) {
                for (const Library& library : rule.unknown) {
                    EXPECT_FALSE(std::regex_search(name, std::regex(library.include)))
                        << file << " includes <" << name << ">, but " << rule.room << " must know nothing of "
                        << library.name;
                }
            }
        }
        EXPECT_GT(seen, 0) << rule.room << " has no sources: is the rule's room still right?";
    }
}

void check(const CompileCommand& command, const std::string& file, const Rule& rule)
{
    for (const Library& library : rule.unknown) {
        if (library.argument == nullptr)
            continue;
        for (const std::string& argument : command.arguments) {
            EXPECT_FALSE(std::regex_search(argument, std::regex(library.argument)))
                << file << " is compiled with " << argument << ", but " << rule.room << " must know nothing of "
                << library.name;
        }
    }
}

TEST(Layers, CompileLinesNameOnlyWhatTheirRoomMayKnow)
{
    const auto commands = compile_commands();
    ASSERT_FALSE(commands.empty()) << FOURFOLD_COMPILE_COMMANDS << " lists no source of this project";
    int core = 0;
    for (const CompileCommand& command : commands) {
        for (const std::string& file : command.files) {
            core += file.starts_with("core/") ? 1 : 0;
            for (const Rule& rule : kRules) {
                if (applies(rule, file))
                    check(command, file, rule);
            }
        }
    }
    EXPECT_GT(core, 10) << "the build compiles core";
}

} // namespace
} // namespace fourfold
