// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/lock_holder.h"

#include "runner/agent/system/file_descriptor.h"

#include <sys/stat.h>

#include <charconv>
#include <sstream>

namespace fourfold {

namespace {

// The address that a process's session came from: the first word of its SSH_CONNECTION.
std::string client_of(int pid)
{
    static const std::string kName = std::string(1, '\0') + "SSH_CONNECTION=";
    const std::string environment = std::string(1, '\0') + slurp("/proc/" + std::to_string(pid) + "/environ", 1u << 20);
    const std::size_t at = environment.find(kName);
    if (at == std::string::npos)
        return {};
    const std::size_t begin = at + kName.size();
    return environment.substr(begin, environment.find_first_of(std::string_view(" \0", 2), begin) - begin);
}

} // namespace

std::string lock_holder(const std::filesystem::path& file)
{
    struct stat info { };
    if (stat(file.c_str(), &info) != 0)
        return {};
    const std::string inode = ":" + std::to_string(info.st_ino);
    // "7: FLOCK  ADVISORY  WRITE 4711 fe:01:1234567 0 EOF"; one that waits has "->" after the number.
    std::istringstream lines(slurp("/proc/locks", 16u << 20));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number, kind, mode, access, place;
        int pid = 0;
        if (!(words >> number >> kind >> mode >> access >> pid >> place) || kind != "FLOCK" || pid <= 0
            || !place.ends_with(inode))
            continue;
        const std::string client = client_of(pid);
        return "process " + std::to_string(pid) + " of the node"
            + (client.empty() ? "" : " (a session from " + client + ")");
    }
    return {};
}

} // namespace fourfold
