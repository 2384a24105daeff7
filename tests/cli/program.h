// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the real program as a process of its own, with folders of its own.
#pragma once

#include "core/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fourfold::test {

struct Output {
    int status = -1; // exit status, or 128 + the signal
    std::string out, err;
};

// Lines of a text without their line breaks.
std::vector<std::string> lines_of(const std::string& text);

// A temporary folder with XDG folders inside; every test has its own.
class ProgramTest : public ::testing::Test {
protected:
    ProgramTest();
    ~ProgramTest() override;
    // A program that goes on.
    struct Started {
        pid_t process = -1;
        std::filesystem::path out, err;
        [[nodiscard]] std::string error_text() const;
    };
    [[nodiscard]] Started start(const std::vector<std::string>& arguments, const std::string& input = "") const;
    [[nodiscard]] static Output finish(const Started& started);
    // What programs read that are started without input; a descriptor of the test.
    void use_standard_input(int descriptor) { standard_input_ = descriptor; }
    // Instead of the one in the build folder.
    void use_program(const std::filesystem::path& program) { program_ = program; }
    // `fourfold ARGUMENTS`, with `input` as its standard input, run in the temporary folder.
    [[nodiscard]] Output fourfold(const std::vector<std::string>& arguments, const std::string& input = "") const;
    // Writes a file of the folder and returns its path.
    std::string file(const std::string& name, const std::string& content) const;
    [[nodiscard]] std::filesystem::path folder() const { return folder_; }
    [[nodiscard]] std::filesystem::path history_file() const { return folder_ / "data/fourfold/history.db"; }
    // Expects failure as users see it: nothing on standard output, one line on standard error.
    static void expect_problem(const Output& output, int status, const std::string& text);

private:
    std::filesystem::path folder_;
    int standard_input_ = -1;
    std::filesystem::path program_ = FOURFOLD_BIN_DIR "/fourfold";
};

// Running processes whose environment holds `variable` ("NAME=value").
int processes_with(const std::string& variable);

// A plan that resolves and fits, with `edits` merged in (RFC 7396).
std::string plan_text(const char* edits = "{}");
// The object that --json printed; a failure of the test when there is none.
Json json_of(const Output& output);

} // namespace fourfold::test
