// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/data_files.h"

#include "core/base/paths.h"

namespace fourfold {

Expected<std::filesystem::path> data_file(const ResolvedPlan& plan, const std::string& path, const std::string& field)
{
    std::vector<std::filesystem::path> places;
    if (std::filesystem::path(path).is_absolute()) {
        places.emplace_back(path);
    } else {
        places.push_back(std::filesystem::path(plan.where).parent_path() / path);
        for (const auto& folder : resource_folders())
            places.push_back(folder / path);
    }
    std::string looked;
    for (const auto& place : places) {
        std::error_code error;
        if (std::filesystem::is_regular_file(place, error))
            return std::filesystem::absolute(place).lexically_normal();
        looked += (looked.empty() ? "" : ", ") + place.string();
    }
    return Problem{ProblemCode::not_found, field + ": the file \"" + path + "\" does not exist", "looked at " + looked,
        plan.where};
}

Expected<void> for_each_file(
    ResolvedPlan& plan, const std::function<Expected<void>(const std::string&, std::string&)>& change)
{
    for (std::size_t i = 0; i < plan.run.data.size(); ++i)
        FOURFOLD_CHECK(change("run.data." + std::to_string(i) + ".path", plan.run.data[i].path));
    for (std::size_t i = 0; i < plan.run.eval.data.size(); ++i)
        FOURFOLD_CHECK(change("run.eval.data." + std::to_string(i) + ".path", plan.run.eval.data[i].path));
    if (plan.training.schedule == Schedule::csv)
        FOURFOLD_CHECK(change("training.schedule", plan.training.schedule_csv));
    return {};
}

} // namespace fourfold
