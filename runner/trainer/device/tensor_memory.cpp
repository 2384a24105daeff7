// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/tensor_memory.h"

#include "runner/trainer/device/block_pool.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <unistd.h>

namespace fourfold::trainer {

namespace {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kWatched = true;
#else
constexpr bool kWatched = false;
#endif
constexpr std::size_t kSmallest = std::size_t(1) << 16; // bytes; the C library keeps what is smaller well enough

BlockPool* pool = nullptr; // for the rest of the process: tensors may outlive everything else

void free_block(void* block)
{
    if (!pool->give_back(block))
        c10::free_cpu(block);
}

class PooledAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        void* block = bytes >= kSmallest ? pool->take(bytes) : nullptr;
        if (block == nullptr) // says so itself where there is no memory
            block = c10::alloc_cpu(bytes);
        return {block, block, &free_block, c10::Device(c10::DeviceType::CPU)};
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};
} // namespace

void pool_tensor_memory()
{
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (kWatched || pool != nullptr || pages <= 0 || page <= 0)
        return;
    pool = BlockPool::reserve(2 * std::size_t(pages) * std::size_t(page)).release(); // as blocks lie with gaps
    static PooledAllocator allocator;
    if (pool != nullptr)
        c10::SetCPUAllocator(&allocator);
}

void release_unused_tensor_memory()
{
    if (pool != nullptr)
        pool->release_unused();
}

} // namespace fourfold::trainer
