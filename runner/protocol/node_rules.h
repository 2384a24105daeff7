// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in the way between nodes and on them, in the words of both that judge it: the client before a run through
// SSH, the agents inside a Slurm job.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace fourfold {

struct NodeFault {
    std::string message, evidence, cure;
};

// `driver`: version of the NVIDIA driver, e.g. "535.54.03". A fault where it is too old for CUDA 13; empty texts and
// such without a number are none.
std::optional<NodeFault> driver_fault(const std::string& driver);

// `models`: of the GPUs that take part, each with a host that has it. A fault where there are several; the cure depends
// on how hosts are chosen and is left to the caller.
std::optional<NodeFault> models_fault(const std::map<std::string, std::string>& models);

// "to n2 (10.0.0.2)".
std::string way_to(const std::string& host, const std::string& address);
// Of an attempt to connect to a host at a numeric address. `state` and `error` as the agent's probe_peer() tells them.
// Nothing for "ok".
std::optional<NodeFault> link_fault(
    const std::string& state, const std::string& error, const std::string& host, const std::string& address);

} // namespace fourfold
