// SPDX-License-Identifier: GPL-3.0-or-later
// Which parameters lie together in one flat buffer. Weights, gradients and optimizer states share this plan.
#pragma once

#include "runner/trainer/model/shard.h"

#include <vector>

namespace fourfold::trainer {

struct BucketEntry {
    std::size_t shard = 0; // index in the shard table
    int64_t offset = 0; // elements
};

// Parameters that are treated alike: reduced over the same groups, counted alike in the gradient norm, decayed or not.
struct Bucket {
    Replication replication = Replication::none;
    bool weight_decay = true;
    std::vector<BucketEntry> entries;
    int64_t elements = 0; // padded to a multiple of the number of replicas, so that it can be sharded over them
};

// Buckets of about `capacity` elements in the order in which a backward pass completes them: by their earliest
// parameter, last one first. The order depends on the table alone, so that every replica issues its reductions in the
// same order.
std::vector<Bucket> plan_buckets(const std::vector<Shard>& shards, int64_t capacity, int replicas);

// Small enough that several buckets exist to overlap with the backward pass, large enough to use the bandwidth.
int64_t default_bucket_capacity(const std::vector<Shard>& shards);

} // namespace fourfold::trainer
