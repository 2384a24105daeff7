// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data_parallel/bucket_plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fourfold::trainer {

namespace {
bool is_ruled(const Shard& shard)
{
    return shard.parameter.role == Role::routing_bias;
}

// One bucket of these parameters, like ones side by side.
Bucket bucket_of(const std::vector<Shard>& shards, std::vector<std::size_t> members, const ReplicaGroups& groups)
{
    const auto kind = [&](std::size_t i) {
        return std::tuple(
            shards[i].muon, shards[i].replication, !shards[i].parameter.weight_decay, is_ruled(shards[i]));
    };
    std::ranges::stable_sort(members, {}, kind);
    Bucket bucket{groups, {}, {}, 0};
    for (const std::size_t i : members) {
        const Shard& shard = shards[i];
        if (bucket.segments.empty() || kind(bucket.entries.back().shard) != kind(i))
            bucket.segments.push_back({shard.replication, shard.parameter.weight_decay, is_ruled(shard), shard.muon,
                bucket.elements, bucket.elements});
        bucket.entries.push_back({i, bucket.elements});
        bucket.elements += shard.elements();
        bucket.segments.back().end = bucket.elements;
    }
    bucket.elements = (bucket.elements + groups.parts - 1) / groups.parts * groups.parts;
    return bucket;
}

// A bucket for each of the groups that these parameters have.
void add_buckets(std::vector<Bucket>& buckets, const std::vector<Shard>& shards,
    const std::vector<std::size_t>& members, const GroupsOf& groups_of)
{
    std::vector<std::pair<ReplicaGroups, std::vector<std::size_t>>> split;
    for (const std::size_t i : members) {
        const ReplicaGroups groups = groups_of(shards[i]);
        auto found = std::ranges::find(split, groups, [](const auto& known) { return known.first; });
        if (found == split.end())
            found = split.insert(split.end(), {groups, {}});
        found->second.push_back(i);
    }
    for (const auto& [groups, own] : split)
        buckets.push_back(bucket_of(shards, own, groups));
}

bool stands_alone(const Shard& shard)
{
    return shard.replication == Replication::ends;
}
} // namespace

std::pair<int64_t, int64_t> Bucket::range_in(int part, const BucketEntry& entry, int64_t count) const
{
    const int64_t first = part * part_elements(), last = first + part_elements();
    const int64_t begin = std::max(first, entry.offset), end = std::min(last, entry.offset + count);
    return {begin - entry.offset, std::max(begin, end) - entry.offset};
}

std::vector<BucketSegment> Bucket::own_segments() const
{
    std::vector<BucketSegment> own;
    for (BucketSegment segment : segments) {
        segment.begin = std::max<int64_t>(segment.begin - part_begin(), 0);
        segment.end = std::min(segment.end - part_begin(), part_elements());
        if (segment.begin < segment.end)
            own.push_back(segment);
    }
    return own;
}

std::vector<Bucket> plan_buckets(const std::vector<Shard>& shards, int64_t capacity, const GroupsOf& groups_of)
{
    std::vector<Bucket> buckets;
    std::vector<std::size_t> open;
    int64_t elements = 0;
    const auto close = [&] {
        add_buckets(buckets, shards, std::exchange(open, {}), groups_of);
        elements = 0;
    };
    for (std::size_t i = shards.size(); i-- > 0;) {
        if (stands_alone(shards[i])) {
            close();
            add_buckets(buckets, shards, {i}, groups_of);
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

namespace {
// Both ends of a whole model on one rank are apart where one only looks up and the other has a matrix of its own: each
// is there while it is needed alone.
bool ends_apart(const std::vector<Shard>& shards, const std::vector<std::size_t>& ends)
{
    const auto any = [&](auto... roles) {
        return std::ranges::any_of(ends, [&](std::size_t i) { return ((shards[i].parameter.role == roles) || ...); });
    };
    return any(Role::embedding) && any(Role::head) && !any(Role::embedding_norm);
}

bool stands_behind(const Shard& shard)
{
    return shard.parameter.role == Role::final_norm || shard.parameter.role == Role::head;
}
} // namespace

std::vector<Bucket> plan_units(
    const std::vector<Shard>& shards, int layers_per_unit, const GroupsOf& groups_of, const std::vector<int>& chunks)
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
        const bool next_chunk
            = layer != last && (layer != last + 1 || std::ranges::find(chunks, layer) != chunks.end());
        if (units.empty() || next_chunk || layer >= first + layers_per_unit) {
            units.emplace_back();
            first = layer;
        }
        last = layer;
        units.back().push_back(i);
    }
    std::vector<Bucket> buckets;
    if (ends_apart(shards, root)) {
        const auto behind
            = std::ranges::stable_partition(root, [&](std::size_t i) { return !stands_behind(shards[i]); });
        add_buckets(buckets, shards, {behind.begin(), behind.end()}, groups_of);
        root.erase(behind.begin(), behind.end());
    }
    for (std::size_t u = units.size(); u-- > 0;)
        add_buckets(buckets, shards, units[u], groups_of);
    for (const std::size_t i : alone)
        add_buckets(buckets, shards, {i}, groups_of);
    add_buckets(buckets, shards, root, groups_of);
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
