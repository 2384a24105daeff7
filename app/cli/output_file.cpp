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
    FOURFOLD_CHECK(check_no_history(output));
    if (std::any_of(inputs.begin(), inputs.end(), is_output))
        return Problem{
            ProblemCode::bad_input, "is what the command reads, which would be lost", "name another file", output};
    return {};
}

} // namespace fourfold::cli
