// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/history_files.h"

#include "core/history/store.h"

#include <algorithm>
#include <array>

namespace fourfold {

Expected<void> check_no_history(const std::filesystem::path& file)
{
    namespace fs = std::filesystem;
    constexpr std::array kParts{"", "-wal", "-shm", "-journal"}; // of which some may not be there at the moment
    const bool is_history = std::ranges::any_of(kParts, [&file](const char* const suffix) {
        const fs::path part = HistoryStore::default_file().string() + suffix;
        std::error_code error, of_file, of_part;
        return fs::equivalent(file, part, error)
            || (fs::weakly_canonical(file, of_file) == fs::weakly_canonical(part, of_part) && !of_file && !of_part);
    });
    if (is_history)
        return Problem{
            ProblemCode::bad_input, "is the history, which would be lost", "name another file", file.string()};
    return {};
}

} // namespace fourfold
