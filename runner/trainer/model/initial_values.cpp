// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/initial_values.h"

#include "runner/trainer/data/counter_random.h"

#include <cmath>
#include <numbers>

namespace fourfold::trainer {

namespace {
// Normal number `n` of a stream: Box-Muller on the n-th pair of uniform numbers, the cosine half. 1 - u is never 0.
double normal(uint64_t stream, int64_t n)
{
    const double radius = std::sqrt(-2 * std::log(1 - random_unit(stream, 2 * uint64_t(n))));
    return radius * std::cos(2 * std::numbers::pi * random_unit(stream, 2 * uint64_t(n) + 1));
}
} // namespace

std::vector<double> initial_values(const Shard& shard, uint64_t seed)
{
    const Parameter& parameter = shard.parameter;
    if (parameter.init_std == 0)
        return std::vector<double>(std::size_t(shard.elements()), parameter.init_value);

    const auto shape = shard.shape();
    const int64_t rows = shape[0], columns = shard.elements() / rows;
    const int64_t full_columns = parameter.elements() / parameter.shape[0];
    const int64_t first_row = parameter.tp_dim == 0 ? shard.begin : 0;
    const int64_t first_column = parameter.tp_dim == 1 ? shard.begin : 0;
    const uint64_t stream = stream_of(seed, parameter.name);

    std::vector<double> values;
    values.reserve(std::size_t(rows * columns));
    for (int64_t row = first_row; row < first_row + rows; ++row)
        for (int64_t column = first_column; column < first_column + columns; ++column)
            values.push_back(
                row < shard.valid_rows ? parameter.init_std * normal(stream, row * full_columns + column) : 0);
    return values;
}

} // namespace fourfold::trainer
