// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/layout.h"

#include <algorithm>

namespace fourfold {

void Coordinates::set(Dimension dimension, int value)
{
    switch (dimension) {
    case Dimension::tp:
        tp = value;
        break;
    case Dimension::cp:
        cp = value;
        break;
    case Dimension::pp:
        pp = value;
        break;
    case Dimension::dp:
        dp = value;
        break;
    }
}

int Layout::stride(Dimension dimension) const
{
    int stride = 1;
    for (const Dimension inner : order) {
        if (inner == dimension)
            break;
        stride *= degree(inner);
    }
    return stride;
}

Coordinates Layout::coordinates(int rank) const
{
    Coordinates at;
    for (const Dimension dimension : order) {
        at.set(dimension, rank % degree(dimension));
        rank /= degree(dimension);
    }
    return at;
}

int Layout::rank(const Coordinates& at) const
{
    int rank = 0;
    for (const Dimension dimension : kDimensions)
        rank += at.get(dimension) * stride(dimension);
    return rank;
}

std::vector<int> Layout::group(int rank, const std::vector<Dimension>& dimensions) const
{
    Coordinates first = coordinates(rank);
    for (const Dimension dimension : dimensions)
        first.set(dimension, 0);
    std::size_t size = 1;
    for (const Dimension dimension : dimensions)
        size *= static_cast<std::size_t>(degree(dimension));
    std::vector<int> ranks;
    ranks.reserve(size);
    ranks.push_back(this->rank(first));
    // Outer dimensions repeat what the inner ones made, one stride further on: ranks come out ascending.
    for (const Dimension dimension : order) {
        if (std::find(dimensions.begin(), dimensions.end(), dimension) == dimensions.end())
            continue;
        const std::size_t inner = ranks.size();
        const int steps = degree(dimension), step = stride(dimension);
        for (int index = 1; index < steps; ++index) {
            for (std::size_t i = 0; i < inner; ++i)
                ranks.push_back(ranks[i] + index * step);
        }
    }
    return ranks;
}

} // namespace fourfold
