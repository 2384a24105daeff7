// SPDX-License-Identifier: GPL-3.0-or-later
// What a GPU did, as PyTorch's profiler saw it: the Chrome trace that torch.profiler writes through Kineto, as far as
// the picture of a step needs it (github.com/pytorch/kineto, libkineto/src/output_json.cpp; keys of NCCL's kernels:
// torch/csrc/distributed/c10d/ParamCommsUtils.hpp).
#pragma once

#include "core/base/expected.h"
#include "core/base/words.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

enum class KernelKind { product, attention, other, optimizer, communication, copy };
template <>
inline constexpr auto kWords<KernelKind> = std::to_array<std::string_view>(
    {"matrix products", "attention", "other kernels", "optimizer", "communication", "copies"});

// By the name of a kernel, as cuBLAS, cuDNN, CUTLASS, FlashAttention, PyTorch and NCCL give them.
KernelKind kernel_kind(const std::string& name);

struct Kernel {
    std::string name;
    KernelKind kind = KernelKind::other;
    int stream = 0;
    double start_s = 0, end_s = 0;
    // Of a collective, where the profiler knew them.
    std::string collective, group; // "allgather"; name of the process group
    int ranks = 0;
    double bytes = 0; // of a collective the larger one of what a rank gives and gets; of a copy what it copies
    // Of a product whose operator recorded its shapes (record_shapes=True); 0: not known.
    double flops = 0;
    int layer = -1; // by the named ranges around it or its launch (layer_ranges.h); -1: not known
};

struct ProfiledStep {
    std::int64_t number = 0; // the profiler's
    double start_s = 0, end_s = 0;
};

struct Profile {
    std::string device; // "NVIDIA H100 80GB HBM3"; empty: not known
    int rank = -1, ranks = 0; // of distributed training; -1, 0: not known
    std::vector<Kernel> kernels; // and copies; by start
    std::vector<ProfiledStep>
        steps; // as the schedule of the profiler marks them on the GPU, else on the host; in order
};

// Reads while it parses, also what gzip packed: files of gigabytes need no more memory than their kernels. Fails on
// what is no such trace, and where the profiler saw no GPU.
Expected<Profile> read_kineto(const std::filesystem::path& file);

// Of one step: the kernels that run between its ends, cut there, with times since its start.
struct StepProfile {
    std::int64_t number = 0;
    double length_s = 0;
    std::vector<Kernel> kernels; // by start
};
// `number`: of the profiler; without one the last step that the trace has whole, or all of it where it marks none.
// `not_found` names those that there are.
Expected<StepProfile> step_of(const Profile& profile, std::int64_t number = -1);

} // namespace fourfold
