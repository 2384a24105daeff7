// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/initial_values.h"

#include "runner/trainer/data/counter_random.h"
#include "runner/trainer/model/normal_numbers.h"

#include <algorithm>
#include <array>

namespace fourfold::trainer {

template <typename Number>
void fill_initial_values(const Shard& shard, uint64_t seed, int64_t first, std::span<Number> out)
{
    const Parameter& parameter = shard.parameter;
    if (parameter.init_std == 0) {
        std::ranges::fill(out, Number(parameter.init_value));
        return;
    }
    const int64_t columns = shard.elements() / shard.shape()[0];
    const int64_t full_columns = parameter.elements() / parameter.shape[0];
    const int64_t first_row = parameter.tp_dim == 0 ? shard.begin : 0;
    const int64_t first_column = parameter.tp_dim == 1 ? shard.begin : 0;
    const uint64_t stream = stream_of(seed, parameter.name);
    const auto deviation = float(parameter.init_std);

    std::array<float, 4096> normal;
    for (std::size_t done = 0; done < out.size();) {
        // What lies side by side in the full tensor: the rest of a row.
        const int64_t element = first + int64_t(done);
        const int64_t row = first_row + element / columns, column = element % columns;
        const std::size_t count = std::min({out.size() - done, std::size_t(columns - column), normal.size()});
        const std::span part = out.subspan(done, count);
        if (row < shard.valid_rows) {
            const std::span numbers = std::span(normal).first(count);
            normal_numbers(stream, uint64_t(row * full_columns + first_column + column), numbers);
            std::ranges::transform(numbers, part.begin(), [&](float n) { return Number(deviation * n); });
        } else
            std::ranges::fill(part, Number(0));
        done += count;
    }
}

template void fill_initial_values(const Shard&, uint64_t, int64_t, std::span<float>);
template void fill_initial_values(const Shard&, uint64_t, int64_t, std::span<double>);

} // namespace fourfold::trainer
