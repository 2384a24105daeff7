// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data_parallel/bucket_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fourfold::trainer {

std::vector<Bucket> plan_buckets(const std::vector<Shard>& shards, int64_t capacity, int replicas)
{
    std::vector<Bucket> buckets;
    std::map<std::pair<Replication, bool>, std::size_t> open; // class -> bucket that is being filled
    for (std::size_t i = shards.size(); i-- > 0;) {
        const auto key = std::pair{shards[i].replication, shards[i].parameter.weight_decay};
        const auto found = open.find(key);
        if (found == open.end() || buckets[found->second].elements >= capacity) {
            open[key] = buckets.size();
            buckets.push_back({key.first, key.second, {}, 0});
        }
        Bucket& bucket = buckets[open[key]];
        bucket.entries.push_back({i, bucket.elements});
        bucket.elements += shards[i].elements();
    }
    for (Bucket& bucket : buckets)
        bucket.elements = (bucket.elements + replicas - 1) / replicas * replicas;
    // Entries run backwards through the table: the last one is the bucket's earliest parameter.
    std::ranges::sort(
        buckets, std::ranges::greater{}, [](const Bucket& bucket) { return bucket.entries.back().shard; });
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
