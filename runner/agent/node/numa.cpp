// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/node/numa.h"

#include "runner/agent/system/file_descriptor.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace fourfold {

namespace {

constexpr int kMostCores = 65536; // more than any kernel numbers

std::optional<int> number_in(const std::filesystem::path& file)
{
    const std::string text = slurp(file, 64);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::vector<std::string> names_in(const std::filesystem::path& folder)
{
    std::vector<std::string> out;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
}

// CUDA numbers GPUs by PCI address (we set CUDA_DEVICE_ORDER so); names of devices (UUIDs) are not looked up.
std::optional<int> node_of_gpu(int local_rank, const std::string& visible, const std::filesystem::path& root)
{
    int device = local_rank;
    if (!visible.empty()) {
        const std::vector<int> listed = parse_core_list(visible);
        if (static_cast<std::size_t>(local_rank) >= listed.size())
            return {};
        device = listed[static_cast<std::size_t>(local_rank)];
    }
    auto addresses = names_in(root / "proc/driver/nvidia/gpus");
    if (device < 0 || static_cast<std::size_t>(device) >= addresses.size())
        return {};
    std::string& address = addresses[static_cast<std::size_t>(device)];
    std::transform(address.begin(), address.end(), address.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto node = number_in(root / "sys/bus/pci/devices" / address / "numa_node");
    return node && *node >= 0 ? node : std::nullopt;
}

std::vector<int> numa_nodes(const std::filesystem::path& root)
{
    std::vector<int> out;
    for (const std::string& name : names_in(root / "sys/devices/system/node")) {
        int value = 0;
        if (name.starts_with("node")
            && std::from_chars(name.data() + 4, name.data() + name.size(), value).ptr == name.data() + name.size())
            out.push_back(value);
    }
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace

std::vector<int> parse_core_list(const std::string& text)
{
    std::vector<int> out;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (at < end) {
        int first = 0;
        auto [next, error] = std::from_chars(at, end, first);
        if (error != std::errc{})
            return {};
        int last = first;
        if (next < end && *next == '-') {
            const auto [after, bad] = std::from_chars(next + 1, end, last);
            if (bad != std::errc{})
                return {};
            next = after;
        }
        if (first < 0 || last < first || last >= kMostCores)
            return {};
        for (int i = first; i <= last && out.size() < kMostCores; ++i)
            out.push_back(i);
        at = next;
        while (at < end && (*at == ',' || *at == '\n' || *at == ' '))
            ++at;
        if (at == next && at < end)
            return {};
    }
    return out;
}

std::vector<int> cores_of_rank(const RunSpec& spec, const RankPlace& place, const std::vector<int>& usable,
    const std::string& visible_devices, const std::filesystem::path& root)
{
    std::optional<int> node;
    if (spec.numa == "gpu") {
        node = node_of_gpu(place.local_rank, visible_devices, root);
    } else if (spec.numa == "spread") {
        const auto nodes = numa_nodes(root);
        if (nodes.size() > 1)
            node = nodes[static_cast<std::size_t>(place.local_rank) * nodes.size() / spec.ranks.size() % nodes.size()];
    }
    if (!node)
        return {};
    std::vector<int> out;
    for (const int core : parse_core_list(
             slurp(root / "sys/devices/system/node" / ("node" + std::to_string(*node)) / "cpulist", 65536))) {
        if (std::find(usable.begin(), usable.end(), core) != usable.end())
            out.push_back(core);
    }
    return out;
}

std::vector<int> usable_cores()
{
    std::vector<int> out;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return out;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &set))
            out.push_back(core);
    }
    return out;
}

bool bind_to_cores(const std::vector<int>& cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) {
        if (core >= 0 && core < CPU_SETSIZE)
            CPU_SET(core, &set);
    }
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

} // namespace fourfold
