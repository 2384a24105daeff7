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

// A stretch of a bucket whose parameters are treated alike: summed over the same groups, counted alike in the gradient
// norm, decayed or not.
struct BucketSegment {
    Replication replication = Replication::none;
    bool weight_decay = true;
    int64_t begin = 0, end = 0; // elements [begin, end)
};

// What is reduced or gathered in one collective.
struct Bucket {
    std::vector<BucketEntry> entries;
    std::vector<BucketSegment> segments; // cover the entries, in order
    int64_t elements = 0; // padded to a multiple of the parts into which it is cut
    int64_t payload() const { return segments.empty() ? 0 : segments.back().end; } // without the padding
};

// Buckets of about `capacity` elements, filled backwards through the table: the order in which a backward pass
// completes them. It depends on the table alone, so that every replica issues its reductions in the same order.
// `parts`: into how many equal parts each bucket must be cut. A tensor that both ends of the pipeline hold has a bucket
// of its own, whose parts are the same on both.
std::vector<Bucket> plan_buckets(const std::vector<Shard>& shards, int64_t capacity, int parts);

// For fully sharded weights: one bucket for each `layers_per_unit` consecutive layers of a chunk, last ones first, then
// one for everything outside of the layers.
std::vector<Bucket> plan_units(const std::vector<Shard>& shards, int layers_per_unit, int parts);

// Small enough that several buckets exist to overlap with the backward pass, large enough to use the bandwidth.
int64_t default_bucket_capacity(const std::vector<Shard>& shards);

} // namespace fourfold::trainer
