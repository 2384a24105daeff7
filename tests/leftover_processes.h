// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fourfold::test {

// A test that failed may have left programs, agents and ranks; they all run from its own folder, which no other test
// knows: ends every process whose command line or environment names `folder`.
inline void end_processes_of(const std::filesystem::path& folder)
{
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0 || pid == ::getpid())
            continue;
        std::stringstream text;
        text << std::ifstream(entry.path() / "cmdline", std::ios::binary).rdbuf();
        text.clear(); // nothing to read is no reason to read no environment
        text << std::ifstream(entry.path() / "environ", std::ios::binary).rdbuf();
        if (text.str().find(folder.string()) != std::string::npos)
            ::kill(pid, SIGKILL);
    }
}

} // namespace fourfold::test
