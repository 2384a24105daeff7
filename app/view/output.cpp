// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/output.h"

#include "core/base/input_file.h"
#include "core/history/history_files.h"

#include <sys/stat.h>

namespace fourfold::view {

Expected<void> check_output(const std::filesystem::path& file)
{
    struct stat there { };
    if (::stat(file.c_str(), &there) == 0 && (S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode)))
        return Problem{ProblemCode::bad_input, "is " + kind_of_file(there.st_mode) + ", expected a file",
            "name another file", file.string()};
    return check_no_history(file);
}

} // namespace fourfold::view
