// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/counting_memory.h"

#include <c10/core/Allocator.h>

namespace fourfold::trainer {

namespace {
CountingMemory* counting = nullptr; // LibTorch's allocators are of the process
} // namespace

class CountingAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        const c10::Device device(c10::DeviceType::Meta);
        if (!counting || bytes == 0)
            return {nullptr, nullptr, &ignore, device};
        // An address of the model: it tells tensors apart and is never read.
        auto* const address = reinterpret_cast<void*>(counting->model_.allocate(bytes));
        return {address, address, &release, device};
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
    void copy_data(void*, const void*, std::size_t) const override { }

private:
    static void ignore(void*) { }
    static void release(void* address)
    {
        if (counting)
            counting->model_.free(reinterpret_cast<uint64_t>(address));
    }
};

CountingMemory::CountingMemory()
{
    static CountingAllocator allocator;
    c10::SetAllocator(c10::DeviceType::Meta, &allocator, /*priority=*/1);
    counting = this;
}

CountingMemory::~CountingMemory()
{
    counting = nullptr;
}

} // namespace fourfold::trainer
