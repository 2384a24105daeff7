// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/named_file.h"

#include "core/base/paths.h"
#include "core/base/text.h"

namespace fourfold {

Expected<std::filesystem::path> named_file(const ResolvedPlan& plan, const std::string& name, const std::string& field)
{
    const std::filesystem::path file(name);
    std::vector<std::filesystem::path> places{file};
    if (file.is_relative()) {
        places = {std::filesystem::path(plan.where).parent_path() / file};
        for (const auto& folder : resource_folders())
            places.push_back(folder / file);
    }
    std::vector<std::string> looked;
    for (const auto& place : places) {
        std::error_code error;
        if (std::filesystem::is_regular_file(place, error))
            return std::filesystem::absolute(place).lexically_normal();
        looked.push_back(place.string());
    }
    return Problem{ProblemCode::not_found, "the file " + in_quotes(name) + " does not exist",
        file.is_relative() ? "looked at " + joined(looked, ", ") : "", field};
}

} // namespace fourfold
