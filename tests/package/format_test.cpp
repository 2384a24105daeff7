// SPDX-License-Identifier: GPL-3.0-or-later
// Every source is formatted with .clang-format.
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fourfold {
namespace {

// Version 14, whose form the sources have: Debian 12's, or the wheel that packaging/test.sh fetched.
std::string clang_format()
{
    for (const std::string& program : {std::string("clang-format-14"), std::string("clang-format"),
             shell_word(FOURFOLD_BIN_DIR "/../tests/wheels/clang_format/data/bin/clang-format")}) {
        if (shell(program + " --version").output.find("version 14.") != std::string::npos)
            return program;
    }
    return {};
}

TEST(Format, SourcesAreFormatted)
{
    const std::string program = clang_format();
    ASSERT_NE(program, "") << "there is no clang-format 14; packaging/test.sh fetches it";
    const auto files = select(project_files(), "", {".h", ".cpp", ".cu"});
    ASSERT_FALSE(files.empty());
    // Several files a call: starting the program takes longer than reading a file.
    constexpr std::size_t kAtOnce = 40;
    for (std::size_t first = 0; first < files.size(); first += kAtOnce) {
        std::string command
            = "cd " + shell_word(FOURFOLD_SOURCE_DIR) + " && " + program + " --dry-run -Werror --style=file";
        for (std::size_t i = first; i < std::min(files.size(), first + kAtOnce); ++i)
            command += " " + shell_word(files[i]);
        const CommandResult result = shell(command);
        EXPECT_EQ(result.status, 0) << result.output.substr(0, 2000)
                                    << "\nRun clang-format -i on the files named above.";
    }
}

} // namespace
} // namespace fourfold
