// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output_file.h"

#include "core/history/store.h"

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
    std::error_code error;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) { // SQLite's own, which may not be there at the moment
        const std::filesystem::path part = HistoryStore::default_file().string() + suffix;
        if (is_output(part)
            || std::filesystem::weakly_canonical(output, error) == std::filesystem::weakly_canonical(part, error))
            return taken("the history");
    }
    if (std::any_of(inputs.begin(), inputs.end(), is_output))
        return taken("what the command reads");
    return {};
}

} // namespace fourfold::cli
