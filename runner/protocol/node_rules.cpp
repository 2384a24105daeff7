// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/node_rules.h"

#include <cstdlib>

namespace fourfold {
namespace {

constexpr int kDriverOfCuda13 = 580; // the first NVIDIA driver that runs CUDA 13

} // namespace

std::optional<NodeFault> driver_fault(const std::string& driver)
{
    const int major = std::atoi(driver.c_str());
    if (major <= 0 || major >= kDriverOfCuda13)
        return {};
    return NodeFault{"the NVIDIA driver " + driver + " is too old for CUDA 13",
        "needs " + std::to_string(kDriverOfCuda13) + " or newer",
        "update the driver, load NVIDIA's cuda-compat package in prelude, build the trainer with a LibTorch for an "
        "older CUDA (FOURFOLD_LIBTORCH), or set the target's container to an image with cuda-compat"};
}

std::optional<NodeFault> models_fault(const std::map<std::string, std::string>& models)
{
    if (models.size() < 2)
        return {};
    NodeFault fault{std::to_string(models.size()) + " GPU models take part: the slowest decides", {}, {}};
    for (const auto& [model, host] : models)
        fault.evidence += (fault.evidence.empty() ? "" : ", ") + model + " on " + host;
    return fault;
}

std::string way_to(const std::string& host, const std::string& address)
{
    return "to " + host + " (" + address + ")";
}

std::optional<NodeFault> link_fault(
    const std::string& state, const std::string& error, const std::string& host, const std::string& address)
{
    if (state == "ok")
        return {};
    const std::string way = way_to(host, address);
    // Hosts of one computer do reach each other there.
    if (address.starts_with("127.") || address == "::1")
        return NodeFault{way + ": " + state, error,
            "that is each node's own address: give the host a node_address under which the others reach it"};
    if (state == "refused")
        return NodeFault{way + ": refused", error,
            "a firewall on that host rejects ports of the ranks: allow TCP between the nodes"};
    if (state == "timeout")
        return NodeFault{way + ": no answer", error,
            "a firewall drops the packets, or node_address is not the network that the nodes share"};
    if (state == "no route")
        return NodeFault{way + ": no route", error, "give the hosts node_address of a network that they share"};
    return NodeFault{way + ": fails", error.empty() ? "state " + state : error,
        "a firewall or proxy between the nodes breaks what it let through: allow TCP between them on all ports"};
}

} // namespace fourfold
