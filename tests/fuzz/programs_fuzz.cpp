// SPDX-License-Identifier: GPL-3.0-or-later
// What a node's programs print: squeue, scontrol, nvidia-smi, the loader, lists of cores. The first byte says which.
#include "runner/agent/checks/load_checks.h"
#include "runner/agent/checks/node_checks.h"
#include "runner/agent/node/numa.h"
#include "runner/agent/slurm/slurm_commands.h"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace fourfold;

void must(bool holds)
{
    if (!holds)
        std::abort();
}

// Nothing that Slurm says makes a run one that ended well.
void look_at_job(const SlurmJob& job)
{
    must(status_of_state(job.state) != RunState::ok);
    must(!words_of_state(job.state).empty() || job.state.empty());
    (void)is_final(job.state);
}

void look_at_findings(const Json& findings)
{
    for (const Json& one : findings) {
        const std::string level = one["level"];
        must(level == "info" || level == "warning" || level == "error");
        must(one["check"].is_string() && one["message"].is_string());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 1)
        return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 6) {
    case 0:
        look_at_job(parse_squeue(text));
        break;
    case 1:
        look_at_job(parse_scontrol(text));
        break;
    case 2:
        look_at_findings(gpu_findings(text, "", 2));
        break;
    case 3:
        look_at_findings(gpu_findings("", text, 2));
        break;
    case 4:
        for (const int core : parse_core_list(text))
            must(core >= 0);
        break;
    default:
        must(loader_complaint(text).size() <= 2 * text.size() + 64);
    }
    return 0;
}
