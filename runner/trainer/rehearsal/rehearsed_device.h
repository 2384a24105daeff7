// SPDX-License-Identifier: GPL-3.0-or-later
// A device that is not there. Tensors without values (device `meta`) take no memory and compute nothing; while one of
// these lives, a ledger has what they would take and how long the device would compute.
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

// Which way the trainer's code and LibTorch's kernels go, and what these allocate for themselves, goes by it.
struct DeviceTraits {
    bool cpu = false; // the ranks run on CPUs
    int threads = 1; // of a CPU rank
    uint64_t product_workspace = 0; // bytes, of each thread that calls cuBLAS
    int multiprocessors = 0;
    bool deterministic = false; // the run's kernels
};
const DeviceTraits& rehearsed_device(); // of the RehearsedDevice that lives; none: a GPU of which nothing is known

// Of the RehearsedDevice that lives; none: null.
Ledger* rehearsed_ledger();

// One at a time in a process; it must outlive every tensor of device `meta` that is made while it lives.
class RehearsedDevice {
public:
    RehearsedDevice(Ledger& ledger, const RehearsalPrices& prices, const DeviceTraits& traits);
    ~RehearsedDevice();
    RehearsedDevice(const RehearsedDevice&) = delete;
    RehearsedDevice& operator=(const RehearsedDevice&) = delete;

private:
    uint64_t calls_, nodes_; // of callbacks
};

} // namespace fourfold::trainer
