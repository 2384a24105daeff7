// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/runtime_switches.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fourfold {
namespace {

// By prefix: what of a program's environment reaches kernels, collectives or the allocator.
constexpr std::array<std::string_view, 9> kPrefixes{
    "NCCL_", "TORCH_NCCL_", "CUDA_", "CUBLAS_", "PYTORCH_", "NVTE_", "RCCL_", "UCX_", "XLA_"};
// Of these, the ones without effect on speed or memory.
constexpr std::array<std::string_view, 6> kHarmless{
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"};
// LibTorch's settings of the allocator, by their name now and before.
constexpr std::array<std::string_view, 2> kAllocator{"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};

// "expandable_segments:True,garbage_collection_threshold:0.8": whether every one of these is known to the model.
bool take_allocator_settings(std::string_view list, RuntimeSwitches& switches)
{
    bool all_known = true;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        std::string setting(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
        std::erase(setting, ' ');
        if (setting == "expandable_segments:True" || setting == "expandable_segments:False")
            switches.expandable_segments = setting.ends_with("True");
        else
            all_known = all_known && setting.empty();
    }
    return all_known;
}

} // namespace

RuntimeSwitches runtime_switches(const std::map<std::string, std::string>& environment)
{
    RuntimeSwitches switches;
    for (const auto& [name, value] : environment) {
        if (name == "CUDA_LAUNCH_BLOCKING") {
            switches.launch_blocking = !value.empty() && value != "0";
            continue;
        }
        if (std::ranges::find(kAllocator, name) != kAllocator.end() && take_allocator_settings(value, switches))
            continue;
        const auto starts = [&name = name](std::string_view prefix) { return name.starts_with(prefix); };
        if (std::any_of(kPrefixes.begin(), kPrefixes.end(), starts)
            && std::find(kHarmless.begin(), kHarmless.end(), name) == kHarmless.end())
            switches.not_modelled.push_back(name);
    }
    return switches;
}

} // namespace fourfold
