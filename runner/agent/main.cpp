// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/standard_streams.h"
#include "runner/agent/session/session.h"
#include "runner/agent/slurm/slurm_node.h"
#include "runner/protocol/message.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
// The first contact runs the descriptor that it has hashed: nobody needs that any more, and lists of processes would
// show "/proc/self/fd/3".
void take_name(char* name)
{
    constexpr char kName[] = "fourfold-agent";
    if (std::strncmp(name, "/proc/self/fd/", sizeof "/proc/self/fd/" - 1) != 0)
        return;
    close(std::atoi(name + sizeof "/proc/self/fd/" - 1));
    std::memset(name, 0, std::strlen(name));
    std::memcpy(name, kName, sizeof kName); // as long as the shortest of those
    prctl(PR_SET_NAME, kName);
}
} // namespace

int main(int argc, char** argv)
{
    fourfold::begin_program();
    signal(SIGHUP, SIG_IGN);
    umask(077);
    if (argc > 0)
        take_name(argv[0]);
    const char* command = argc == 2 ? argv[1] : "";
    if (std::strcmp(command, "version") == 0 || std::strcmp(command, "--version") == 0) {
        std::printf("fourfold-agent, protocol %d\n", fourfold::kProtocolVersion);
        return fourfold::status_after_output(0, "fourfold-agent");
    }
    if (std::strcmp(command, "session") == 0)
        return fourfold::Session(STDIN_FILENO, STDOUT_FILENO).run();
    if (argc == 3 && std::strcmp(argv[1], "slurm-node") == 0)
        return fourfold::run_slurm_node(argv[2]);
    const bool asked = std::strcmp(command, "--help") == 0 || std::strcmp(command, "-h") == 0;
    std::fprintf(asked ? stdout : stderr,
        "fourfold-agent runs and supervises training ranks on a node; `fourfold run` starts it.\n"
        "usage: fourfold-agent session | version | slurm-node FOLDER\n");
    return fourfold::status_after_output(asked ? 0 : 2, "fourfold-agent");
}
