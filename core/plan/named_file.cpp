// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/named_file.h"

#include "core/base/input_file.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace fourfold {

Expected<std::filesystem::path> named_file(const ResolvedPlan& plan, const std::string& name, const std::string& field)
{
    const std::filesystem::path file(name);
    std::vector<std::filesystem::path> places{file};
    if (file.is_relative()) {
        // A plan that came through a pipe lies nowhere: its names are those of the current folder.
        const bool piped = plan.where.starts_with("/dev/") || plan.where.starts_with("/proc/");
        places = {(piped ? std::filesystem::path() : std::filesystem::path(plan.where).parent_path()) / file};
        for (const auto& folder : resource_folders())
            places.push_back(folder / file);
    }
    std::vector<std::string> looked;
    for (const auto& place : places) {
        struct stat info { };
        const bool there = ::stat(place.c_str(), &info) == 0;
        if (!there && errno != ENOENT && errno != ENOTDIR)
            return Problem{ProblemCode::bad_input,
                in_quotes(place.string()) + " cannot be looked at: " + std::generic_category().message(errno),
                "name another file, or mend what leads to it", field};
        if (there && S_ISREG(info.st_mode))
            return std::filesystem::absolute(place).lexically_normal();
        if (there) // it is read in parts, by every rank
            return Problem{ProblemCode::bad_input,
                in_quotes(name) + " is " + kind_of_file(info.st_mode) + ", expected a file",
                "write its content into a file and name that", field};
        looked.push_back(place.string());
    }
    return Problem{ProblemCode::not_found, "the file " + in_quotes(name) + " does not exist",
        file.is_relative() ? "looked at " + joined(looked, ", ") : "", field};
}

} // namespace fourfold
