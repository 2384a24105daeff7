// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/slice.h"

#include <ATen/ops/cat.h>

#include <array>

namespace fourfold::trainer {

namespace {
// Where the two chunks of a rank begin, and how long they are.
struct Chunks {
    std::array<int64_t, 2> begin;
    int64_t length;
    Chunks(int64_t positions, int rank, int size)
        : length(positions / (2 * size))
    {
        begin = {rank * length, (2 * size - 1 - rank) * length};
    }
};
} // namespace

std::vector<int64_t> context_positions(int64_t seq_len, int rank, int size)
{
    std::vector<int64_t> positions;
    if (size == 1) {
        for (int64_t position = 0; position < seq_len; ++position)
            positions.push_back(position);
        return positions;
    }
    const Chunks chunks(seq_len, rank, size);
    for (const int64_t begin : chunks.begin)
        for (int64_t i = 0; i < chunks.length; ++i)
            positions.push_back(begin + i);
    return positions;
}

at::Tensor context_part(const at::Tensor& whole, int rank, int size)
{
    if (size == 1)
        return whole;
    const Chunks chunks(whole.size(0), rank, size);
    return at::cat({whole.narrow(0, chunks.begin[0], chunks.length), whole.narrow(0, chunks.begin[1], chunks.length)});
}

} // namespace fourfold::trainer
