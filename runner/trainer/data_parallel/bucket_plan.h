// SPDX-License-Identifier: GPL-3.0-or-later
// Which parameters lie together in one flat buffer. Weights, gradients and optimizer states share this plan.
#pragma once

#include "core/layout/mesh.h"
#include "runner/trainer/model/shard.h"

#include <functional>
#include <utility>
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
    bool ruled = false; // moved by the sign of the gradient, which no norm counts: routing biases
    bool muon = false; // these come last: they have no second moments, which so are the first elements of a part
    int64_t begin = 0, end = 0; // elements [begin, end)
};

// The ranks that hold the same parameters, and how they share the work on them. HSDP cuts these replicas: a shard group
// holds one copy between its ranks, a copies group has the same part in other shard groups. Otherwise the shard group
// is all of them.
struct ReplicaGroups {
    GroupKind shard = GroupKind::dp_shard, copies = GroupKind::dp_replicate;
    // Which of how many equal parts this rank's optimizer updates. 0 of 1: nothing is cut, each replica updates all.
    int part = 0, parts = 1;
    bool exact = false; // the leaves have the masters' type: what bf16 could not count or add up
    bool narrow = false; // matrices that are gathered in fp8
    bool operator==(const ReplicaGroups&) const = default;
};
// Those of a parameter: experts, say, have others than the rest of the model.
using GroupsOf = std::function<ReplicaGroups(const Shard&)>;

// What is reduced or gathered in one collective.
struct Bucket {
    ReplicaGroups groups;
    std::vector<BucketEntry> entries;
    std::vector<BucketSegment> segments; // cover the entries, in order
    int64_t elements = 0; // padded to a multiple of the parts into which it is cut

    [[nodiscard]] int64_t payload() const { return segments.empty() ? 0 : segments.back().end; } // without the padding
    [[nodiscard]] bool cut() const { return groups.parts > 1; }
    [[nodiscard]] int64_t part_elements() const { return elements / groups.parts; }
    [[nodiscard]] int64_t part_begin() const { return groups.part * part_elements(); }
    // Which elements of an entry with so many, counted from its begin, lie in part `part`: [first, second), perhaps
    // none.
    [[nodiscard]] std::pair<int64_t, int64_t> range_in(int part, const BucketEntry& entry, int64_t count) const;
    // The segments as far as they lie in this rank's part, their elements counted from the part's begin.
    [[nodiscard]] std::vector<BucketSegment> own_segments() const;
};

// Buckets of about `capacity` elements, filled backwards through the table: the order in which a backward pass
// completes them. It depends on the table alone, so that every replica issues its reductions in the same order.
// Parameters of different groups have buckets apart. A tensor that both ends of the pipeline hold has a bucket of its
// own, whose parts are the same on both.
std::vector<Bucket> plan_buckets(const std::vector<Shard>& shards, int64_t capacity, const GroupsOf& groups_of);

// For fully sharded weights: one bucket for each `layers_per_unit` consecutive layers of a chunk, last ones first, then
// one for everything outside of the layers, where they share no weights one for the head before all and one for the
// embedding; several where their parameters are of different groups.
// `chunks`: the first layers of those chunks that may follow on each other.
std::vector<Bucket> plan_units(const std::vector<Shard>& shards, int layers_per_unit, const GroupsOf& groups_of,
    const std::vector<int>& chunks = {});

// Small enough that several buckets exist to overlap with the backward pass, large enough to use the bandwidth.
int64_t default_bucket_capacity(const std::vector<Shard>& shards);

} // namespace fourfold::trainer
