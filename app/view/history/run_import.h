// SPDX-License-Identifier: GPL-3.0-or-later
// Exported runs, folders of runs and measured tables become runs of the history.
#pragma once

#include "core/history/store.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold::view {

inline constexpr std::size_t kLargestImport = std::size_t{1} << 30; // bytes: runs of many steps make large documents

// Exported runs are JSON (one, or a list of them), measured tables CSV; a log is what another trainer printed.
enum class ImportSource { exported, table, log };
// By the file's name, and where that says nothing (a pipe has none) by how its text begins.
ImportSource import_source(const std::filesystem::path& file, std::string_view text);

// What there is to take: of a run's folder, of a measured table or of exported runs. `remarks` gets what cannot be
// taken of a table. A log does not say what was run, so that it is refused here.
Expected<std::vector<Json>> runs_of(const std::filesystem::path& path, std::vector<std::string>& remarks);
Expected<std::vector<Json>> runs_of_document(const std::string& text, const std::string& where);

struct RunImport {
    struct Run {
        std::string id, name;
    };
    std::vector<Run> added, known; // known: in the history before, with the same figures
    std::size_t deleted = 0; // of the known ones, hidden until they are restored
    std::vector<std::string> remarks; // what was left out, and why
    std::optional<Problem> problem; // that ended it; what was added before stays
    // "3 runs added, 2 there already"
    [[nodiscard]] std::string said() const;
    // Of the one run that it was about; empty where there were more or none.
    [[nodiscard]] std::string only() const;
};
// `where`: the file that they are of.
RunImport import_runs(HistoryStore& store, const std::vector<Json>& runs, const std::string& where,
    ImportSource source = ImportSource::exported);
// Reads and takes them. An empty `history` means the user's own. A prediction is made for each row of a table.
RunImport import_from(const std::filesystem::path& history, const std::filesystem::path& path);

} // namespace fourfold::view
