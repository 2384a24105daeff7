// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/counted_work.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace fourfold::testing {

namespace {
std::mutex mutex;
std::unordered_map<void*, int64_t> sizes;
int64_t held = 0, most = 0;
double products = 0;

// A product that is under way on this thread: on a CPU a product of batches may be made of others.
thread_local int under_way = 0;
// Of its result; 0: of none, or of other numbers than of 16 bits.
thread_local int64_t result_bytes = 0;
// Operators within each other on this thread, and which of them is an attention, whose tensors are made by others; 0:
// none.
thread_local int operators = 0, attention_among_them = 0;

bool is_scratch(int64_t bytes)
{
    return (result_bytes != 0 && bytes != result_bytes)
        || (attention_among_them != 0 && attention_among_them == operators);
}

class Counting final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        void* const memory = c10::alloc_cpu(bytes);
        const std::scoped_lock lock(mutex);
        if (is_scratch(int64_t(bytes)))
            return {memory, memory, &release, c10::Device(c10::DeviceType::CPU)};
        sizes[memory] = int64_t(bytes);
        held += int64_t(bytes);
        most = std::max(most, held);
        return {memory, memory, &release, c10::Device(c10::DeviceType::CPU)};
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

private:
    static void release(void* memory)
    {
        {
            const std::scoped_lock lock(mutex);
            if (const auto known = sizes.find(memory); known != sizes.end()) {
                held -= known->second;
                sizes.erase(known);
            }
        }
        c10::free_cpu(memory);
    }
};

double product(const at::Tensor& a, const at::Tensor& b)
{
    const double batch = a.dim() > 2 ? double(a.size(0)) : 1;
    return 2 * batch * double(a.size(-2)) * double(a.size(-1)) * double(b.size(-1));
}

// Two products of queries x keys x head_dim forward, five backward; half of them where no token sees later ones.
double attention(const at::Tensor& query, const at::Tensor& key, bool causal, int count)
{
    const double whole = 2 * double(count) * double(query.size(0) * query.size(1)) * double(query.size(2))
        * double(key.size(2)) * double(query.size(3));
    return causal ? whole / 2 : whole;
}

int64_t bytes_of_product(const at::Tensor& a, const at::Tensor& b)
{
    const int64_t batch = a.dim() > 2 ? a.size(0) : 1;
    return a.itemsize() == 2 ? 2 * batch * a.size(-2) * b.size(-1) : 0;
}

struct Counted : at::ObserverContext { };

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& function)
{
    const std::string_view name = function.name();
    const auto inputs = function.inputs();
    ++operators;
    double flops = 0;
    int64_t bytes = 0;
    const auto multiplied = [&](std::size_t first) {
        const at::Tensor &a = inputs[first].toTensor(), &b = inputs[first + 1].toTensor();
        flops = product(a, b);
        bytes = bytes_of_product(a, b);
    };
    if (name == "aten::mm" || name == "aten::bmm")
        multiplied(0);
    else if (name == "aten::addmm" || name == "aten::addmm_" || name == "aten::baddbmm")
        multiplied(1);
    else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu")
        flops = attention(inputs[0].toTensor(), inputs[1].toTensor(), inputs[4].toBool(), 2);
    else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu_backward")
        flops = attention(inputs[1].toTensor(), inputs[2].toTensor(), inputs[7].toBool(), 5);
    if (name.starts_with("aten::_scaled_dot_product_flash_attention"))
        attention_among_them = operators;
    if (flops == 0)
        return nullptr;
    if (under_way++ == 0) {
        result_bytes = bytes;
        const std::scoped_lock lock(mutex);
        products += flops;
    }
    return std::make_unique<Counted>();
}

void ended(const at::RecordFunction& /*function*/, at::ObserverContext* context)
{
    if (operators-- == attention_among_them)
        attention_among_them = 0;
    if (context != nullptr)
        result_bytes = --under_way == 0 ? 0 : result_bytes;
}
} // namespace

CountedWork::CountedWork()
{
    static Counting allocator;
    c10::SetAllocator(c10::DeviceType::CPU, &allocator, /*priority=*/1);
    at::addGlobalCallback(
        at::RecordFunctionCallback(count, ended).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
}

int64_t CountedWork::bytes() const
{
    const std::scoped_lock lock(mutex);
    return held;
}

int64_t CountedWork::peak_bytes() const
{
    const std::scoped_lock lock(mutex);
    return most;
}

int64_t CountedWork::restart_peak()
{
    const std::scoped_lock lock(mutex);
    most = held;
    return held;
}

double CountedWork::flops() const
{
    const std::scoped_lock lock(mutex);
    return products;
}

} // namespace fourfold::testing
