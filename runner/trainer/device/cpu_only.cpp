// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/device.h"
#include "runner/trainer/device/device_graph.h"
#include "runner/trainer/device/side_stream.h"

#include "runner/trainer/kernels/launches.h"

#include <stdexcept>

namespace fourfold::trainer {

namespace {
[[noreturn]] void no_gpu()
{
    throw std::runtime_error("this is the CPU trainer: use fourfold-trainer-cuda for GPUs");
}
} // namespace

std::vector<std::string> gpu_ids()
{
    return {};
}
void select_gpu(int)
{
    no_gpu();
}
void synchronize_gpu() { }
void* gpu_stream(int)
{
    no_gpu();
}
std::unique_ptr<SideStream> gpu_side_stream()
{
    no_gpu();
}
std::unique_ptr<GraphRecorder> gpu_graphs()
{
    no_gpu();
}
GpuPeaks gpu_peaks()
{
    return {};
}
Json gpu_facts()
{
    return Json::object();
}
std::string nccl_version()
{
    return "";
}
c10d::Backend* make_nccl_backend(c10d::Store*, const TransportOptions&)
{
    no_gpu();
}

// The kernels of kernels/*.cu are not here.
void launch_turn(const Launch&, const TurnShape&, const void*, const float*, const float*, int, void*)
{
    no_gpu();
}
void launch_normed_sum(
    const Launch&, const RowShape&, float, const void*, const void*, const void*, void*, void*, float*)
{
    no_gpu();
}
void launch_normed_sum_slopes(const Launch&, const RowShape&, const NormSlopes&, void*, float*, int64_t)
{
    no_gpu();
}
void launch_adam(const Launch&, const AdamFactors<float>&, const void*, int64_t, float*, bool, void*, void*)
{
    no_gpu();
}
void launch_squares(const Launch&, const void*, int64_t, double*, int64_t)
{
    no_gpu();
}
void launch_gated(const Launch&, const GateForm<float>&, const void*, const void*, int64_t, void*)
{
    no_gpu();
}
void launch_gated_slopes(
    const Launch&, const GateForm<float>&, const void*, const void*, const void*, int64_t, void*, void*)
{
    no_gpu();
}
void launch_row_sums(const Launch&, const LogitShape&, const void*, float*, float*)
{
    no_gpu();
}
void launch_loss_slopes(const Launch&, const LogitShape&, const LossSlopes&, void*)
{
    no_gpu();
}
void launch_largest(const Launch&, const BlockShape&, const void*, float*)
{
    no_gpu();
}
void launch_rounding(const Launch&, const BlockShape&, const Rounding&, const void*, const float*, uint8_t*, float*)
{
    no_gpu();
}

} // namespace fourfold::trainer
