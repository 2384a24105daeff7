// SPDX-License-Identifier: GPL-3.0-or-later
// A small trace in the form that PyTorch's profiler writes through Kineto.
#pragma once

#include "core/base/json.h"

#include <string>

namespace fourfold::test {

inline Json kineto_event(
    const char* category, const std::string& name, double ts, double dur, const Json& args = Json::object())
{
    return {{"ph", "X"}, {"cat", category}, {"name", name}, {"pid", 0}, {"tid", 7}, {"ts", ts}, {"dur", dur},
        {"args", args}};
}

// Two steps of 1,000 us on a GPU of rank `rank` of 8, with what the host did around them, in the order in which Kineto
// writes. The product of step 4 (1,024 x 4,096 times 4,096 x 512, 300 us) was launched in layer 3, its attention ran in
// layer 5 of the GPU's own ranges.
inline Json kineto_trace(int rank = 5)
{
    const auto on = [](int stream, int correlation = 0) {
        return Json{{"device", 0}, {"stream", stream}, {"External id", 17}, {"correlation", correlation}};
    };
    Json gather = on(20);
    gather.update({{"Collective name", "_allgather_base"}, {"In msg nelems", 1024}, {"Out msg nelems", 8192},
        {"Group size", 8}, {"dtype", "BFloat16"}, {"Process Group Name", "fsdp"},
        {"Process Group Ranks", Json::array({0, 1, 2, 3, 4, 5, 6, 7})}});
    Json copy = on(24);
    copy["bytes"] = 1'000'000;
    Json events = Json::array({kineto_event("user_annotation", "ProfilerStep#3", 900, 1000),
        kineto_event("gpu_user_annotation", "ProfilerStep#3", 1000, 1000, on(7)),
        kineto_event("gpu_user_annotation", "ProfilerStep#4", 2000, 1000, on(7)),
        kineto_event("gpu_user_annotation", "## layers.5.attention ##", 2500, 220, on(7)),
        kineto_event("user_annotation", "forward", 940, 100),
        kineto_event("python_function", "nn.Module: TransformerBlock_3", 945, 50),
        kineto_event("python_function", "layers.3.feed_forward", 948, 30),
        kineto_event("cpu_op", "aten::mm", 950, 20,
            {{"External id", 17},
                {"Input Dims", Json::array({Json::array({1024, 4096}), Json::array({4096, 512}), Json::array()})}}),
        kineto_event("cuda_runtime", "cudaLaunchKernel", 955, 5, {{"correlation", 1234}, {"External id", 17}}),
        kineto_event("kernel", "nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNN", 2100, 300, on(7, 1234)),
        kineto_event("kernel", "void at::native::vectorized_elementwise_kernel<4, silu>", 2400, 100, on(7)),
        kineto_event("kernel", "void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", 2500, 200, on(7)),
        kineto_event("kernel", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 2300, 500, gather),
        kineto_event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 2900, 50, copy),
        kineto_event("kernel", "sm90_xmma_gemm_bf16bf16", 1990, 30, on(7))}); // begins in the step before
    events.insert(
        events.begin(), Json{{"ph", "M"}, {"name", "process_name"}, {"pid", 0}, {"args", {{"name", "python"}}}});
    return {{"schemaVersion", 1}, {"deviceProperties", Json::array({{{"id", 0}, {"name", "NVIDIA H100 80GB HBM3"}}})},
        {"distributedInfo", {{"backend", "nccl"}, {"rank", rank}, {"world_size", 8}}}, {"displayTimeUnit", "ms"},
        {"traceEvents", events}, {"traceName", "trace.json"}};
}

} // namespace fourfold::test
