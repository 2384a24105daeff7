// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors without values (device `meta`) take no memory. From the first use of this on, their allocator keeps account
// of what they would take on a GPU.
#pragma once

#include "core/rehearsal/caching_allocator.h"

#include <memory>

namespace fourfold::trainer {

// While one lives, every tensor of device `meta` that this process makes is counted. One at a time; it must outlive
// these tensors.
class CountingMemory {
public:
    CountingMemory();
    ~CountingMemory();
    CountingMemory(const CountingMemory&) = delete;
    CountingMemory& operator=(const CountingMemory&) = delete;

    [[nodiscard]] const CachingAllocator& model() const { return model_; }

private:
    friend class CountingAllocator;
    CachingAllocator model_;
};

} // namespace fourfold::trainer
