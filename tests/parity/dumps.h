// SPDX-License-Identifier: GPL-3.0-or-later
// What parity-worker wrote: losses, gradients of the first step, weights after the last.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fourfold::testing {

struct DumpedTensor {
    std::vector<int64_t> full_shape;
    int tp_dim = -1;
    int64_t begin = 0, length = 0; // the part of dimension tp_dim that the rank has
    std::vector<double> gradient, weight; // of the part, row-major
};

struct Dump {
    std::vector<double> losses, grad_norms; // per step
    double eval_loss = 0;
    int64_t overlapped = 0; // gradient reductions that began inside a backward pass
    int64_t published_beside = 0; // buckets of updated weights that still came when a forward pass began
    int64_t replays = 0; // of recorded layers
    std::string without_graphs; // why there are none, though the plan asks for them
    std::map<std::string, DumpedTensor> tensors;
    using Bytes = std::map<std::string, std::map<std::string, int64_t>>; // group -> operation -> bytes
    Bytes bytes; // of the whole job
    Bytes step_bytes; // of the first step alone
};

// `kind`: "" or ".fp32", see parity-worker.
Dump read_dump(const std::filesystem::path& folder, int rank, const std::string& kind = "");

// A tensor whose largest element is below this is compared with this: what is mathematically zero is rounding noise.
inline constexpr double kSmallestScale = 1e-6;

// max |part - same part of the reference| / max(max |reference|, kSmallestScale); `member` is &DumpedTensor::gradient
// or ::weight. The reference is a one-rank dump; rows of vocabulary padding that it lacks must be zero.
double worst_difference(
    const DumpedTensor& part, const DumpedTensor& reference, std::vector<double> DumpedTensor::*member);

} // namespace fourfold::testing
