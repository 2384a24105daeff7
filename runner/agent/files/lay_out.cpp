// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/files/lay_out.h"

#include <unistd.h>

namespace fourfold {

Expected<void> lay_out_files(Store& store, const RunFolder& folder, const RunSpec& spec)
{
    for (const RunFile& file : spec.files) {
        const std::filesystem::path target
            = file.in_place.empty() ? store.place(file.sha256) : std::filesystem::path(file.in_place);
        if (!file.sha256.empty())
            FOURFOLD_CHECK(store.verify(target, file.sha256));
        const std::filesystem::path link = folder.file(file.name);
        std::error_code error;
        if (!std::filesystem::exists(target, error))
            return Problem{ProblemCode::not_found, "is needed by the run and does not exist", {}, target.string()};
        FOURFOLD_CHECK(make_trusted_folders(folder.path(), std::filesystem::path(file.name).parent_path()));
        std::filesystem::remove(link, error); // of an attempt that did not get further
        if (symlink(target.c_str(), link.c_str()) != 0)
            return errno_problem("cannot be linked", link);
    }
    return {};
}

} // namespace fourfold
