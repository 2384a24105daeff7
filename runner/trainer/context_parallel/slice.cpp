// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/slice.h"

#include <ATen/ops/cat.h>

namespace fourfold::trainer {

Runs context_runs(int64_t seq_len, int rank, int size, CpMethod method)
{
    if (size == 1 || method == CpMethod::ulysses)
        return {{rank * (seq_len / size), seq_len / size}};
    const int64_t length = seq_len / (2 * size);
    return {{rank * length, length}, {(2 * size - 1 - rank) * length, length}};
}

std::vector<int64_t> context_positions(int64_t seq_len, int rank, int size, CpMethod method)
{
    std::vector<int64_t> positions;
    for (const Run& run : context_runs(seq_len, rank, size, method))
        for (int64_t position = run.begin; position < run.end(); ++position)
            positions.push_back(position);
    return positions;
}

at::Tensor context_part(const at::Tensor& whole, int rank, int size, CpMethod method)
{
    std::vector<at::Tensor> parts;
    for (const Run& run : context_runs(whole.size(0), rank, size, method))
        parts.push_back(whole.narrow(0, run.begin, run.length));
    return parts.size() == 1 ? parts[0] : at::cat(parts);
}

} // namespace fourfold::trainer
