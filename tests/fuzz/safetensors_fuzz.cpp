// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that somebody else wrote: a tensor that is told can be read, from its first to its last element.
#include "must.h"
#include "runner/trainer/checkpoint/safetensors.h"

#include <algorithm>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    using namespace fourfold::trainer;
    const fuzz::MemoryFile file(data, size);
    const auto reader = SafetensorsReader::open(file.path());
    if (!reader)
        return 0;
    std::vector<double> values(8);
    for (const auto& [name, tensor] : (*reader)->tensors()) {
        fuzz::must(tensor.name == name && tensor.elements() >= 0 && tensor.bytes() <= std::int64_t(size));
        const std::int64_t count = tensor.bytes() > 0 ? std::min<std::int64_t>(8, tensor.elements()) : 0;
        fuzz::must((*reader)->read(tensor, 0, 1, count, values.data()).has_value());
        fuzz::must((*reader)->read(tensor, tensor.elements() - count, 1, count, values.data()).has_value());
        if (count > 1)
            fuzz::must((*reader)->read(tensor, 0, tensor.elements() - 1, 2, values.data()).has_value());
    }
    return 0;
}
