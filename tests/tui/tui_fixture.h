// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of the terminal share: a folder with a plan, its environment, the programs, screens kept as files.
#pragma once

#include "core/base/json.h"
#include "tests/temporary_folder.h"
#include "tests/tui/fake_programs.h"
#include "tests/tui/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fourfold::test {

// The screens whose pages are kept as files.
struct ScreenSize {
    int rows, columns;
    bool colors;
    [[nodiscard]] std::string name() const
    {
        return std::to_string(columns) + "x" + std::to_string(rows) + (colors ? "" : "-plain");
    }
};
inline constexpr ScreenSize kScreenSizes[]{
    {24, 80, true}, {24, 80, false}, {40, 120, true}, {40, 120, false}, {60, 200, true}, {60, 200, false}};

inline constexpr const char* kPlan = R"({
  "fourfold_plan": 1, "name": "Sixteen", "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 16,
  "stack": "megatron-lm", "layout": {"tp": 2, "pp": 2},
  "training": {"seq_len": 8192, "micro_batch": 1, "global_batch": 64, "schedule": "1f1b"}
})";

class Tui : public ::testing::Test {
protected:
    void SetUp() override { std::ofstream(plan()) << kPlan; }
    [[nodiscard]] std::filesystem::path plan() const { return folder_ / "p.plan.json"; }
    [[nodiscard]] TerminalProgram::Options options(int rows = 24, int columns = 80) const
    {
        return {rows, columns,
            {{"XDG_DATA_HOME", (folder_ / "data").string()}, {"XDG_CONFIG_HOME", (folder_ / "config").string()}}};
    }
    [[nodiscard]] TerminalProgram::Options options(const ScreenSize& size) const
    {
        TerminalProgram::Options options = this->options(size.rows, size.columns);
        if (!size.colors)
            options.environment["NO_COLOR"] = "1";
        return options;
    }
    // The next program starts where nobody was before.
    void forget_session() const { std::filesystem::remove(folder_ / "data/fourfold/tui.json"); }
    // Of the answers that no calibration changes.
    [[nodiscard]] std::vector<std::string> fixed() const { return {FOURFOLD_FIXED_PLANNER, plan().string()}; }
    [[nodiscard]] static std::vector<std::string> real(const std::vector<std::string>& arguments)
    {
        std::vector<std::string> command{FOURFOLD_BIN_DIR "/fourfold"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return command;
    }
    // Of a folder with a trainer that trains nothing: the launcher takes what lies beside it.
    [[nodiscard]] std::vector<std::string> faked(const std::vector<std::string>& arguments) const
    {
        std::vector<std::string> command = real(arguments);
        command.front() = put_fake_programs(folder_ / "bin").string();
        return command;
    }
    // What the screen shows, once nothing comes any more; of the small one how it looks, too.
    static std::string shown(TerminalProgram& program, const ScreenSize& size)
    {
        program.settle();
        return program.grid().text() + (size.rows == 24 ? "--- looks\n" + program.grid().looks() : "");
    }
    // Compares a screen with the file of that name, which FOURFOLD_UPDATE_GOLDEN writes.
    static void expect_golden(const std::string& name, const std::string& shown)
    {
        const std::filesystem::path file = std::filesystem::path(FOURFOLD_TEST_DATA) / "golden" / (name + ".txt");
        if (std::getenv("FOURFOLD_UPDATE_GOLDEN") != nullptr) {
            ASSERT_TRUE(write_file_atomically(file, shown));
            return;
        }
        const Expected<std::string> expected = read_text_file(file);
        ASSERT_TRUE(expected) << file;
        EXPECT_EQ(shown, *expected) << name;
    }
    TemporaryFolder folder_;
};

} // namespace fourfold::test
