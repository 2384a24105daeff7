// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between the two trainers. fourfold-trainer links cpu_only.cpp, fourfold-trainer-cuda links cuda.cpp;
// everything else is the same code, and which of Gloo and NCCL runs is chosen at run time.
#pragma once

#include "core/base/json.h"

#include <string>
#include <vector>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

namespace fourfold::trainer {

struct TransportOptions;

// The driver's ids (UUID, 32 hexadecimal digits) of the GPUs that this process can use; none in the CPU trainer.
std::vector<std::string> gpu_ids();
// Makes GPU `index` the current one. Throws where there is none.
void select_gpu(int index);
// Waits until the current GPU finished its work; nothing on CPU.
void synchronize_gpu();
// Where LibTorch puts work for GPU `index` now, a cudaStream_t. Throws in the CPU trainer, as do the kernels of
// kernels/launches.h, which only fourfold-trainer-cuda links.
void* gpu_stream(int index);
// The most on the current GPU so far, in GiB: of tensors, and what LibTorch's caching allocator took for them.
struct GpuPeaks {
    double allocated_gib = 0, reserved_gib = 0;
};
GpuPeaks gpu_peaks();
// {"gpu", "gpu_memory_gib", "gpu_clock_mhz", "power_limit_w"} of the current GPU; null = not known.
Json gpu_facts();
std::string nccl_version(); // empty in the CPU trainer
// A new c10d::ProcessGroupNCCL; the caller owns the reference. Throws in the CPU trainer.
c10d::Backend* make_nccl_backend(c10d::Store* store, const TransportOptions& options);

} // namespace fourfold::trainer
