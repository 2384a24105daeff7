// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data_parallel/bucket_plan.h"

#include <algorithm>
#include <tuple>

namespace fourfold::trainer {

namespace {
// One bucket of these parameters, like ones side by side.
Bucket bucket_of(const std::vector<Shard>& shards, std::vector<std::size_t> members, int parts)
{
    const auto kind
        = [&](std::size_t i) { return std::tuple(shards[i].replication, !shards[i].parameter.weight_decay); };
    std::ranges::stable_sort(members, {}, kind);
    Bucket bucket;
    for (const std::size_t i : members) {
        const Shard& shard = shards[i];
        if (bucket.segments.empty() || kind(bucket.entries.back().shard) != kind(i))
            bucket.segments.push_back(
                {shard.replication, shard.parameter.weight_decay, bucket.elements, bucket.elements});
        bucket.entries.push_back({i, bucket.elements});
        bucket.elements += shard.elements();
        bucket.segments.back().end = bucket.elements;
    }
    bucket.elements = (bucket.elements + parts - 1) / parts * parts;
    return bucket;
}

bool stands_alone(const Shard& shard)
{
    return shard.replication == Replication::ends;
}
} // namespace

std::vector<Bucket> plan_buckets(const std::vector<Shard>& shards, int64_t capacity, int parts)
{
    std::vector<Bucket> buckets;
    std::vector<std::size_t> open;
    int64_t elements = 0;
    const auto close = [&] {
        if (!open.empty())
            buckets.push_back(bucket_of(shards, std::exchange(open, {}), parts));
        elements = 0;
    };
    for (std::size_t i = shards.size(); i-- > 0;) {
        if (stands_alone(shards[i])) {
            close();
            buckets.push_back(bucket_of(shards, {i}, parts));
            continue;
        }
        open.push_back(i);
        elements += shards[i].elements();
        if (elements >= capacity)
            close();
    }
    close();
    return buckets;
}

std::vector<Bucket> plan_units(const std::vector<Shard>& shards, int layers_per_unit, int parts)
{
    std::vector<std::vector<std::size_t>> units;
    std::vector<std::size_t> root, alone;
    int first = -1, last = -1; // layers of the unit that is being filled
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const int layer = shards[i].parameter.layer;
        if (layer < 0) {
            (stands_alone(shards[i]) ? alone : root).push_back(i);
            continue;
        }
        const bool next_chunk = layer != last && layer != last + 1;
        if (units.empty() || next_chunk || layer >= first + layers_per_unit) {
            units.emplace_back();
            first = layer;
        }
        last = layer;
        units.back().push_back(i);
    }
    std::vector<Bucket> buckets;
    for (std::size_t u = units.size(); u-- > 0;)
        buckets.push_back(bucket_of(shards, units[u], parts));
    for (const std::size_t i : alone)
        buckets.push_back(bucket_of(shards, {i}, parts));
    if (!root.empty())
        buckets.push_back(bucket_of(shards, root, parts));
    return buckets;
}

int64_t default_bucket_capacity(const std::vector<Shard>& shards)
{
    constexpr int64_t kSmallest = 1 << 16, kLargest = 25 << 18; // 25 MiB of fp32, as PyTorch's DDP
    int64_t total = 0;
    for (const Shard& shard : shards)
        total += shard.elements();
    return std::clamp(total / 8, kSmallest, kLargest);
}

} // namespace fourfold::trainer
