// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/checks/container_checks.h"

#include "runner/agent/checks/node_checks.h"
#include "runner/agent/ranks/rank_environment.h"
#include "runner/agent/system/trusted_path.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include <unistd.h>

namespace fourfold {

namespace {

// Who else could put another image there; nothing when nobody can.
std::optional<Problem> exchange_fault(const std::filesystem::path& image)
{
    std::error_code ignored;
    const auto opened = std::filesystem::is_directory(image, ignored) ? open_trusted_folder(image, {}, false)
                                                                      : open_trusted_file(image, {});
    return opened || opened.error().code != ProblemCode::refused ? std::nullopt : std::optional(opened.error());
}

} // namespace

Json container_findings(const std::string& image, bool prelude, const Environment& environment)
{
    Json out = Json::array();
    if (container_program(environment).empty())
        out.push_back(finding("container", prelude ? "warning" : "error",
            "neither apptainer nor singularity is in the PATH of the node",
            prelude ? "before the prelude, which may bring one" : "PATH of the session",
            "install Apptainer, load its module in prelude, or leave container out"));
    const std::string file = at_home(image, environment);
    if (!file.starts_with('/'))
        return out; // a reference
    if (access(file.c_str(), R_OK) != 0)
        out.push_back(finding("container", "error", "the image cannot be read", file + ": " + std::strerror(errno),
            "copy it to each node, or change container.image of the target"));
    // An image is run as it is named, whatever is in it by then.
    else if (const auto fault = exchange_fault(file))
        out.push_back(finding("container", "warning", "other users could exchange the image", fault->message,
            "copy it to a folder of your own, or see that nobody else may write it"));
    return out;
}

} // namespace fourfold
