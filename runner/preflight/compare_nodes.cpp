// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/compare_nodes.h"

#include "runner/protocol/message.h"
#include "runner/protocol/node_rules.h"

#include <sys/utsname.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace fourfold {

namespace {

constexpr double kClockWarning = 0.05; // seconds

std::string number(double value, const char* format)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

void compare_gpus(const std::vector<ProbedNode>& nodes, const NodeNeeds& needs, std::vector<Finding>& out)
{
    std::map<std::string, std::string> models; // to one host that has it
    for (const ProbedNode& node : nodes) {
        for (const NodeGpu& gpu : node.facts.gpus)
            models.try_emplace(gpu.name, node.name);
        if (const auto fault = driver_fault(node.facts.driver); fault && !needs.container)
            out.push_back({FindingLevel::error, node.name, "driver", fault->message, fault->evidence, fault->cure});
    }
    if (const auto fault = models_fault(models)) {
        out.push_back({needs.mixed_gpus ? FindingLevel::warning : FindingLevel::error, {}, "GPU models", fault->message,
            fault->evidence,
            needs.mixed_gpus ? "leave the slower ones out"
                             : "use hosts of one model, or set the target's mixed_gpus to true"});
    }
}

void compare_system(const ProbedNode& node, const NodeNeeds& needs, std::vector<Finding>& out)
{
    utsname here{};
    uname(&here);
    if (!node.facts.arch.empty() && node.facts.arch != here.machine)
        out.push_back({FindingLevel::error, node.name, "processor", "the node is " + node.facts.arch,
            std::string("this computer's trainer is ") + here.machine, "launch from a computer of the node's kind"});
    const int minor = node.facts.glibc.starts_with("2.") ? std::atoi(node.facts.glibc.c_str() + 2) : -1;
    if (minor >= 0 && needs.glibc_minor > minor && !needs.container)
        out.push_back({FindingLevel::error, node.name, "glibc", "the node has glibc " + node.facts.glibc,
            "the trainer needs 2." + std::to_string(needs.glibc_minor),
            "set the target's container to an image with a newer one, or build the trainer on an older system"});
    if (node.clock && std::abs(node.clock->ahead_s) - node.clock->uncertainty_s > kClockWarning)
        out.push_back({FindingLevel::warning, node.name, "clock",
            number(std::abs(node.clock->ahead_s), "%.2f s") + (node.clock->ahead_s > 0 ? " ahead of" : " behind")
                + " this computer's",
            number(node.clock->uncertainty_s * 1000, "known to %.1f ms"), "let NTP (chrony) set the node's clock"});
}

} // namespace

std::vector<Finding> compare_nodes(const std::vector<ProbedNode>& nodes, const NodeNeeds& needs)
{
    std::vector<Finding> out;
    for (const ProbedNode& node : nodes)
        compare_system(node, needs, out);
    if (needs.on_gpus)
        compare_gpus(nodes, needs, out);
    std::map<std::string, std::string> processors;
    for (const ProbedNode& node : nodes)
        processors.try_emplace(text_field(node.facts.document, "cpu"), node.name);
    if (processors.size() > 1 && !needs.on_gpus) {
        std::string evidence;
        for (const auto& [cpu, host] : processors)
            evidence += (evidence.empty() ? "" : ", ") + cpu + " on " + host;
        out.push_back({FindingLevel::warning, {}, "processors", "the nodes differ: the slowest decides", evidence,
            "use hosts of one kind, or count on the slowest one's speed"});
    }
    return out;
}

} // namespace fourfold
