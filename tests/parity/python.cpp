// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/python.h"

#include <cstdlib>
#include <filesystem>

namespace fourfold::testing {

std::string python_with(const std::string& module)
{
    namespace fs = std::filesystem;
    const fs::path torch = fs::path(FOURFOLD_LIBTORCH).parent_path(), wheels = FOURFOLD_BIN_DIR "/../tests/wheels";
    std::string found;
    for (const char* name : {"python3.11", "python3", "/usr/bin/python3"}) {
        const std::string python
            = "PYTHONPATH='" + wheels.string() + ":" + torch.string() + "' " + name + " -W ignore ";
        const auto runs = [&python](const std::string& code) {
            return std::system((python + "-c '" + code + "' >/dev/null 2>&1").c_str()) == 0;
        };
        if (!runs("import sys; sys.exit(sys.version_info[:2] != (3, 11))"))
            continue;
        if (runs("import importlib.util as u, sys; sys.exit(u.find_spec(\"" + module + "\") is None)"))
            return python;
        if (module == "torch")
            found = python;
    }
    return found;
}

} // namespace fourfold::testing
