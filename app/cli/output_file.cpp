// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output_file.h"

#include "core/history/history_files.h"

#include <algorithm>
#include <filesystem>

namespace fourfold::cli {

Expected<void> check_output(const std::string& output, const std::vector<std::string>& inputs)
{
    const auto is_output = [&output](const std::filesystem::path& file) {
        std::error_code error;
        return std::filesystem::equivalent(output, file, error);
    };
    const auto taken = [&output](const char* what) -> Problem {
        return {
            ProblemCode::bad_input, std::string("is ") + what + ", which would be lost", "name another file", output};
    };
    if (is_history(output))
        return taken("the history");
    if (std::any_of(inputs.begin(), inputs.end(), is_output))
        return taken("what the command reads");
    return {};
}

} // namespace fourfold::cli
