// SPDX-License-Identifier: GPL-3.0-or-later
// What this process's tensors take and compute, as LibTorch's allocator and operators see it. What oneDNN takes from
// the same allocator while it multiplies 16-bit numbers, also within attention, is no tensor, differs from processor to
// processor, and is left out.
#pragma once

#include <cstdint>

namespace fourfold::testing {

// One in a process, before its first tensor; counts until the process ends.
class CountedWork {
public:
    CountedWork();
    CountedWork(const CountedWork&) = delete;
    CountedWork& operator=(const CountedWork&) = delete;

    [[nodiscard]] int64_t bytes() const; // of all tensors now
    [[nodiscard]] int64_t peak_bytes() const;
    int64_t restart_peak(); // from now on, which it returns
    [[nodiscard]] double flops() const; // of matrix products and fused attention so far
};

} // namespace fourfold::testing
