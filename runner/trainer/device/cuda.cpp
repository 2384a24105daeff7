// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/device.h"
#include "runner/trainer/device/side_stream.h"

#include "runner/trainer/comm/c10d_transport.h"

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nccl.h>

namespace fourfold::trainer {

namespace {
constexpr double kGiB = 1u << 30;

// The driver's management library is there wherever a GPU is; it is not part of the toolkit's link libraries.
Json power_limit_w(const std::string& pci_id)
{
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return nullptr;
    const auto init = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlInit_v2"));
    const auto handle_of
        = reinterpret_cast<int (*)(const char*, void**)>(::dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
    const auto limit_of
        = reinterpret_cast<int (*)(void*, unsigned*)>(::dlsym(library, "nvmlDeviceGetPowerManagementLimit"));
    void* handle = nullptr;
    unsigned milliwatts = 0;
    if (init && handle_of && limit_of && init() == 0 && handle_of(pci_id.c_str(), &handle) == 0
        && limit_of(handle, &milliwatts) == 0)
        return milliwatts / 1000.0;
    return nullptr;
}
} // namespace

std::vector<std::string> gpu_ids()
{
    std::vector<std::string> out;
    for (int device = 0; device < c10::cuda::device_count(); ++device) {
        cudaDeviceProp properties{};
        std::string id;
        if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
            for (const char byte : properties.uuid.bytes) {
                constexpr const char* kDigits = "0123456789abcdef";
                id += kDigits[static_cast<unsigned char>(byte) >> 4];
                id += kDigits[byte & 15];
            }
        }
        out.push_back(std::move(id));
    }
    return out;
}
void select_gpu(int index)
{
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
}
void synchronize_gpu()
{
    if (c10::cuda::device_count() > 0)
        c10::cuda::device_synchronize();
}
void* gpu_stream(int index)
{
    return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index)).stream();
}

namespace {
class CopyStream final : public SideStream {
public:
    void follow() override
    {
        at::cuda::CUDAEvent computed;
        computed.record();
        computed.block(stream_);
    }
    void copy(const at::Tensor& from, const at::Tensor& to) override
    {
        const c10::cuda::CUDAStreamGuard guard(stream_);
        to.copy_(from, /*non_blocking=*/true);
    }
    Mark mark() override
    {
        const auto event = std::make_shared<at::cuda::CUDAEvent>();
        event->record(stream_);
        return event;
    }
    void gpu_waits(const Mark& mark) override
    {
        static_cast<at::cuda::CUDAEvent*>(mark.get())->block(c10::cuda::getCurrentCUDAStream());
    }
    void host_waits(const Mark& mark) override { static_cast<at::cuda::CUDAEvent*>(mark.get())->synchronize(); }

private:
    c10::cuda::CUDAStream stream_ = c10::cuda::getStreamFromPool();
};
} // namespace

std::unique_ptr<SideStream> gpu_side_stream()
{
    return std::make_unique<CopyStream>();
}

GpuPeaks gpu_peaks()
{
    if (c10::cuda::device_count() == 0)
        return {};
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device());
    const auto peak = [](const auto& bytes) { return double(bytes[0].peak) / kGiB; }; // entry 0 counts all pools
    return {peak(stats.allocated_bytes), peak(stats.reserved_bytes)};
}

Json gpu_facts()
{
    if (c10::cuda::device_count() == 0)
        return Json::object();
    const int device = c10::cuda::current_device();
    cudaDeviceProp properties{};
    int kilohertz = 0;
    char pci_id[32] = "";
    Json facts{{"gpu", nullptr}, {"gpu_memory_gib", nullptr}, {"gpu_clock_mhz", nullptr}, {"power_limit_w", nullptr}};
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
        facts["gpu"] = properties.name;
        facts["gpu_memory_gib"] = double(properties.totalGlobalMem) / kGiB;
    }
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device) == cudaSuccess)
        facts["gpu_clock_mhz"] = kilohertz / 1000.0;
    if (cudaDeviceGetPCIBusId(pci_id, sizeof pci_id, device) == cudaSuccess)
        facts["power_limit_w"] = power_limit_w(pci_id);
    return facts;
}

std::string nccl_version()
{
    int version = 0; // e.g. 22809 for 2.28.9
    if (ncclGetVersion(&version) != ncclSuccess)
        return "unknown";
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "."
        + std::to_string(version % 100);
}

c10d::Backend* make_nccl_backend(c10d::Store* store, const TransportOptions& wanted)
{
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::milliseconds(static_cast<int64_t>(wanted.timeout_s * 1000));
    options->group_name = wanted.name;
    auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::intrusive_ptr<c10d::Store>::reclaim_copy(store), wanted.rank, wanted.size, options);
    // Now, by all members in one order. Left to its first operation, the host would wait there for the other members'
    // first ones. The connections of collectives are made by the first of them; those of messages, by connect().
    const at::Device device(at::kCUDA, c10::cuda::current_device());
    backend->setBoundDeviceId(device);
    backend->eagerConnectSingleDevice(device);
    std::vector<at::Tensor> first{at::zeros({1}, at::TensorOptions(at::kFloat).device(device))};
    backend->allreduce(first)->wait();
    synchronize_gpu();
    return backend.release();
}

} // namespace fourfold::trainer
