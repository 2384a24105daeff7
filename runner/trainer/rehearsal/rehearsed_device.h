// SPDX-License-Identifier: GPL-3.0-or-later
// A GPU that is not there. Tensors without values (device `meta`) take no memory and compute nothing; while one of
// these lives, a ledger has what they would take and how long a GPU would compute.
#pragma once

#include "core/rehearsal/ledger.h"
#include "core/rehearsal/rehearsal_prices.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace fourfold::trainer {

// The bytes of the ledger's memory that a tensor takes, [first, second); none of one with gaps, or not of device
// `meta`.
std::pair<uint64_t, uint64_t> bytes_of(const at::Tensor& tensor);

// What kernels allocate for themselves goes by it.
struct RehearsedGpu {
    uint64_t product_workspace = 0; // bytes, of each thread that calls cuBLAS; 0: a CPU
    int multiprocessors = 0;
    bool deterministic = false; // the run's kernels
    [[nodiscard]] bool is_cpu() const { return product_workspace == 0; }
};
const RehearsedGpu& rehearsed_gpu(); // of the RehearsedDevice that lives; none: an empty one

// One at a time in a process; it must outlive every tensor of device `meta` that is made while it lives.
class RehearsedDevice {
public:
    RehearsedDevice(Ledger& ledger, const RehearsalPrices& prices, const RehearsedGpu& gpu);
    ~RehearsedDevice();
    RehearsedDevice(const RehearsedDevice&) = delete;
    RehearsedDevice& operator=(const RehearsedDevice&) = delete;

private:
    uint64_t calls_, nodes_; // of callbacks
};

} // namespace fourfold::trainer
