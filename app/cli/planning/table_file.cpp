// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/table_file.h"

#include "app/cli/command.h"
#include "core/base/paths.h"

namespace fourfold::cli {

namespace {

std::filesystem::path table_file(const std::string& name)
{
    std::error_code error;
    if (std::filesystem::exists(name, error))
        return name;
    for (const std::filesystem::path& folder : preset_folders()) {
        const auto file = folder / "published" / name;
        if (std::filesystem::exists(file, error))
            return file;
    }
    return name;
}

} // namespace

Expected<MeasuredTable> load_measured_table(const std::string& name, const Presets& presets)
{
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    FOURFOLD_TRY(MeasuredTable table, read_measured_table(table_file(name), sources, presets));
    for (const Problem& problem : table.problems)
        warn(problem.line());
    return table;
}

} // namespace fourfold::cli
