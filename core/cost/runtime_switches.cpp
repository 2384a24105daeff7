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

} // namespace

RuntimeSwitches runtime_switches(const std::map<std::string, std::string>& environment)
{
    RuntimeSwitches switches;
    for (const auto& [name, value] : environment) {
        if (name == "CUDA_LAUNCH_BLOCKING") {
            switches.launch_blocking = !value.empty() && value != "0";
            continue;
        }
        if (name == "PYTORCH_CUDA_ALLOC_CONF" && value == "expandable_segments:True") {
            switches.expandable_segments = true;
            continue;
        }
        const auto starts = [&name = name](std::string_view prefix) { return name.starts_with(prefix); };
        if (std::any_of(kPrefixes.begin(), kPrefixes.end(), starts)
            && std::find(kHarmless.begin(), kHarmless.end(), name) == kHarmless.end())
            switches.not_modelled.push_back(name);
    }
    return switches;
}

} // namespace fourfold
