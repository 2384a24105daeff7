// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/container_checks.h"

#include "runner/agent/node_checks.h"
#include "runner/agent/rank_environment.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace fourfold {

Json container_findings(const std::string& image, bool prelude, const Environment& environment)
{
    Json out = Json::array();
    if (container_program(environment).empty())
        out.push_back(finding("container", prelude ? "warning" : "error",
            "neither apptainer nor singularity is in the PATH of the node",
            prelude ? "before the prelude, which may bring one" : "PATH of the session",
            "install Apptainer, load its module in prelude, or leave container out"));
    const auto home = environment.find("HOME");
    const std::string file
        = image.starts_with("~/") && home != environment.end() ? home->second + image.substr(1) : image;
    if (file.starts_with('/') && access(file.c_str(), R_OK) != 0)
        out.push_back(finding("container", "error", "the image cannot be read", file + ": " + std::strerror(errno),
            "copy it to each node, or change container.image of the target"));
    return out;
}

} // namespace fourfold
