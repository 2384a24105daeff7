// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data_parallel/gradient_buckets.h"

#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>

namespace fourfold::trainer {

struct GradientBuckets::State {
    // A reduction under way, in place: what it reads and writes lives until it is through.
    struct Reduction {
        std::size_t bucket = 0;
        int round = 0; // which micro-batch's
        at::Tensor source;
        Handle handle;
    };
    // Of those whose source is freed after them: bounds the memory. Of those that another sum follows: by then they are
    // through, and the backward pass does not stand still for them.
    static constexpr std::size_t kMostUnderWay = 2;
    struct SumOverCopies { // of the shard, after its reduction
        std::size_t bucket = 0;
        Handle handle;
    };

    const Weights& weights;
    const Mesh& mesh;
    GradientSettings settings;
    std::vector<at::Tensor> flat; // beside buckets; where they do not last only while gradients come
    std::vector<at::Tensor> reduced; // beside buckets: parts of `flat`, or what is added up over micro-batches
    std::vector<std::size_t> missing; // gradients that each bucket still waits for, before it is complete
    std::vector<int> complete; // how often each bucket got complete and was not yet issued
    // Reductions are issued in a lane's order on every rank, whatever order autograd finishes in; which lane comes when
    // follows from the schedule.
    struct Lane {
        std::vector<std::size_t> buckets = {};
        int issued = 0;
        [[nodiscard]] std::size_t next() const { return buckets[std::size_t(issued) % buckets.size()]; }
        [[nodiscard]] int round() const { return issued / int(buckets.size()); }
    };
    std::vector<Lane> lanes;
    std::vector<std::size_t> lane_of; // beside buckets
    std::deque<Reduction> under_way;
    // In the order of the reductions, which all ranks have.
    std::deque<SumOverCopies> over_copies = {};
    std::deque<Handle> over_sharers = {}; // ranks that share some of a bucket's weights: the last sum
    bool finishing = false; // no backward pass runs any more
    int64_t overlapped = 0;
    int micro_batches = 1; // of this step
    std::vector<at::Tensor> wide = {}; // of reduced gradients in fp16, whose loss scale would not come off in it

    [[nodiscard]] int rounds() const { return settings.each_micro_batch ? micro_batches : 1; }
    // What is complete is reduced, or the memory would not be given back.
    [[nodiscard]] bool at_once() const { return settings.each_micro_batch || settings.final; }
    [[nodiscard]] bool lasts() const { return !settings.each_micro_batch && !settings.final; } // the memory of `flat`

    [[nodiscard]] at::TensorOptions options(std::size_t b) const
    {
        return weights.masters()[b].options().device(weights.device()).dtype(settings.type);
    }

    // Of a weight: its bucket, and where it is there.
    [[nodiscard]] std::pair<std::size_t, const BucketEntry*> place_of(std::size_t shard) const
    {
        for (std::size_t b = 0; b < weights.buckets().size(); ++b)
            for (const BucketEntry& entry : weights.buckets()[b].entries)
                if (entry.shard == shard)
                    return {b, &entry};
        throw std::out_of_range("a weight that is in no bucket");
    }

    // Than the one that makes gradients of bucket `b`.
    [[nodiscard]] bool is_of_an_earlier_pass(const Reduction& reduction, std::size_t b) const
    {
        const auto of_layers
            = [&](std::size_t bucket) { return !settings.lanes.empty() && settings.lanes[bucket] > 0; };
        const bool other_chunk = lane_of[reduction.bucket] != lane_of[b] && of_layers(reduction.bucket) && of_layers(b);
        return other_chunk || reduction.round < lanes[lane_of[b]].round();
    }

    const at::Tensor& flat_of(std::size_t b)
    {
        if (flat[b].defined())
            return flat[b];
        while (!under_way.empty() && is_of_an_earlier_pass(under_way.front(), b)) // through since then
            finish_oldest();
        flat[b] = at::zeros({weights.buckets()[b].elements}, options(b));
        if (!settings.each_micro_batch)
            reduced[b] = own_part(b, flat[b]);
        return flat[b];
    }

    // What this rank's optimizer updates, of a bucket's gradients.
    [[nodiscard]] at::Tensor own_part(std::size_t b, const at::Tensor& gradients) const
    {
        const Bucket& bucket = weights.buckets()[b];
        return gradients.narrow(0, bucket.part_begin(), bucket.part_elements());
    }

    void expect(std::size_t b)
    {
        missing[b] = 0;
        for (const BucketEntry& entry : weights.buckets()[b].entries)
            missing[b] += std::size_t(weights.shards()[entry.shard].chunks)
                * std::size_t(settings.each_micro_batch ? 1 : micro_batches);
    }

    void finish_oldest()
    {
        Reduction oldest = std::move(under_way.front());
        under_way.pop_front();
        oldest.handle.wait();
        const std::size_t b = oldest.bucket;
        const bool last = oldest.round + 1 == rounds();
        if (settings.each_micro_batch) {
            const at::Tensor part = own_part(b, oldest.source);
            if (reduced[b].defined())
                reduced[b].add_(part);
            else
                reduced[b] = last ? part : part.clone();
        }
        if (last && settings.final && !waits_for_other_stages(b))
            hand_out(b);
        else if (last && !settings.final)
            start_sum_over_copies(b);
    }

    [[nodiscard]] const Communicator& copies_of(std::size_t b) const
    {
        return mesh[weights.buckets()[b].groups.copies];
    }
    void start_sum_over_copies(std::size_t b)
    {
        if (copies_of(b).size() == 1)
            return start_sums_over_sharers(b);
        while (over_copies.size() >= kMostUnderWay)
            finish_oldest_copies();
        over_copies.push_back({b, copies_of(b).start_all_reduce(reduced[b])});
        overlapped += settings.overlap && !finishing ? 1 : 0;
        if (!settings.overlap)
            finish_oldest_copies();
    }
    void finish_oldest_copies()
    {
        SumOverCopies oldest = std::move(over_copies.front());
        over_copies.pop_front();
        oldest.handle.wait();
        start_sums_over_sharers(oldest.bucket);
    }
    // Those that other stages take part in wait for the end: here a stage would wait for one that waits for it.
    void start_sums_over_sharers(std::size_t b)
    {
        each_shared(b, [&](const Communicator& sharers, const at::Tensor& part, bool of_stages) {
            if (!of_stages)
                over_sharers.push_back(sharers.start_all_reduce(part));
        });
        if (!settings.overlap)
            finish_sharers();
    }
    void finish_sharers()
    {
        for (; !over_sharers.empty(); over_sharers.pop_front())
            over_sharers.front().wait();
    }

    // Other stages come to a bucket of both ends at another time: asked for in a backward pass, its sum would wait for
    // a stage that waits for this one.
    [[nodiscard]] bool waits_for_other_stages(std::size_t b) const
    {
        return std::ranges::any_of(weights.buckets()[b].segments,
            [&](const BucketSegment& segment) { return segment.replication == Replication::ends; });
    }

    // The sum over all micro-batches and the shard group becomes that over all ranks.
    void sum_up(std::size_t b) const
    {
        copies_of(b).all_reduce(reduced[b]);
        each_shared(b, [](const Communicator& sharers, const at::Tensor& part, bool) { sharers.all_reduce(part); });
    }

    void hand_out(std::size_t b)
    {
        sum_up(b);
        settings.final(b);
        if (settings.keep)
            return;
        reduced[b].reset();
        flat[b].reset();
    }

    void issue_next(Lane& lane)
    {
        const std::size_t b = lane.next();
        const Bucket& bucket = weights.buckets()[b];
        Reduction reduction{b, lane.round(), flat_of(b), {}};
        if (!lasts())
            while (under_way.size() >= kMostUnderWay)
                finish_oldest();
        if (settings.each_micro_batch)
            flat[b].reset();
        const Communicator& group = mesh[bucket.groups.shard];
        reduction.handle = bucket.cut() ? group.start_reduce_scatter(own_part(b, reduction.source), reduction.source)
                                        : group.start_all_reduce(reduction.source);
        under_way.push_back(std::move(reduction));
        ++lane.issued;
        if (!settings.final && settings.overlap && copies_of(b).size() > 1)
            while (under_way.size() > kMostUnderWay)
                finish_oldest();
        // An update need not wait where nothing is under way, nor may anything be behind the computation.
        const bool alone = settings.final && group.size() == 1;
        while ((alone || (at_once() && !settings.overlap)) && !under_way.empty())
            finish_oldest();
    }

    void added(std::size_t b)
    {
        if (--missing[b] > 0)
            return;
        ++complete[b];
        if (settings.made)
            settings.made(b);
        if (settings.each_micro_batch)
            expect(b);
        Lane& lane = lanes[lane_of[b]];
        while ((settings.overlap || at_once()) && lane.round() < rounds() && complete[lane.next()] > 0) {
            --complete[lane.next()];
            issue_next(lane);
            overlapped += settings.overlap ? 1 : 0;
        }
    }

    // use(ranks, part of reduced[b], whether they are of several stages): what other ranks than replicas hold too, they
    // also have to add up, on finished sums, as addition commutes.
    template <typename Use>
    void each_shared(std::size_t b, Use&& use) const
    {
        for (const BucketSegment& segment : weights.buckets()[b].own_segments()) {
            const at::Tensor part = reduced[b].narrow(0, segment.begin, segment.end - segment.begin);
            if (segment.replication == Replication::heads
                || (segment.replication == Replication::tp && settings.sequence_parallel))
                use(mesh[GroupKind::tp], part, false);
            else if (segment.replication == Replication::kv)
                use(mesh[GroupKind::tp_keys], part, false);
            else if (segment.replication == Replication::ends)
                use(mesh.ends, part, true);
        }
    }
};

namespace {
// Runs after a weight's gradient was added to, also inside the nested backward of a recomputed block.
struct Added : torch::autograd::PostAccumulateGradHook {
    explicit Added(std::function<void(const at::Tensor&)> own)
        : action(std::move(own))
    {
    }
    void operator()(const at::Tensor& weight) override { action(weight); }
    std::function<void(const at::Tensor&)> action;
};
} // namespace

GradientBuckets::GradientBuckets(const Weights& weights, const Mesh& mesh, GradientSettings settings)
    : state_(std::make_unique<State>(State{weights, mesh, std::move(settings), {}, {}, {}, {}, {}, {}, {}}))
{
    State* const state = state_.get();
    const std::size_t count = weights.buckets().size();
    state->flat.resize(count);
    state->reduced.resize(count);
    state->missing.resize(count);
    state->complete.resize(count);
    std::map<int, std::size_t> lanes;
    for (std::size_t b = 0; b < count; ++b) {
        const auto& number = state->settings.lanes;
        const auto [lane, is_new] = lanes.try_emplace(number.empty() ? 0 : number[b], lanes.size());
        if (is_new)
            state->lanes.emplace_back();
        state->lanes[lane->second].buckets.push_back(b);
        state->lane_of.push_back(lane->second);
    }
    for (std::size_t b = 0; b < count; ++b) {
        const auto options = state->options(b);
        const Bucket& bucket = weights.buckets()[b];
        if (state->lasts())
            (void)state->flat_of(b);
        else if (state->settings.each_micro_batch && !state->settings.final)
            state->reduced[b] = at::zeros({bucket.part_elements()}, options);
        for (const BucketEntry& entry : bucket.entries) {
            const at::Tensor& leaf = weights.leaves()[entry.shard];
            // Autograd adds into a gradient of the leaf's own type by itself, where that stays in its place.
            const bool direct = state->lasts() && options.dtype() == leaf.dtype();
            if (direct)
                leaf.mutable_grad() = Weights::view(state->flat[b], entry, weights.shards()[entry.shard]);
            torch::autograd::impl::set_post_acc_grad_hooks(
                leaf, std::make_unique<Added>([state, b, entry, direct](const at::Tensor& weight) {
                    if (state->settings.waits && state->settings.waits(weight))
                        return;
                    if (!direct) {
                        lasting({"flat", int64_t(b)}, [state, b] { (void)state->flat_of(b); });
                        Weights::view(state->flat_of(b), entry, state->weights.shards()[entry.shard])
                            .add_(weight.grad());
                        weight.mutable_grad().reset();
                    }
                    lasting({"added", int64_t(b)}, [state, b] { state->added(b); });
                }));
        }
    }
}

GradientBuckets::~GradientBuckets()
{
    for (const at::Tensor& leaf : state_->weights.leaves())
        torch::autograd::impl::set_post_acc_grad_hooks(leaf, nullptr);
}

void GradientBuckets::clear(int micro_batches)
{
    State& state = *state_;
    state.micro_batches = micro_batches;
    state.finishing = false;
    state.wide.clear(); // the update is through
    for (State::Lane& lane : state.lanes)
        lane.issued = 0;
    for (std::size_t b = 0; b < state.flat.size(); ++b) {
        if (state.settings.final) { // what a comparison kept
            state.flat[b].reset();
            state.reduced[b].reset();
        }
        if (state.flat[b].defined())
            state.flat[b].zero_();
        if (state.settings.each_micro_batch && state.reduced[b].defined())
            state.reduced[b].zero_();
        state.complete[b] = 0;
        state.expect(b);
    }
}

void GradientBuckets::finish()
{
    State& state = *state_;
    state.finishing = true;
    for (State::Lane& lane : state.lanes)
        while (lane.round() < state.rounds())
            state.issue_next(lane);
    while (!state.under_way.empty())
        state.finish_oldest();
    while (!state.over_copies.empty())
        state.finish_oldest_copies();
    state.finish_sharers();
    for (std::size_t b = 0; b < state.flat.size(); ++b) {
        if (state.settings.final && state.waits_for_other_stages(b))
            state.hand_out(b);
        else if (!state.settings.final)
            state.each_shared(b, [](const Communicator& sharers, const at::Tensor& part, bool of_stages) {
                if (of_stages)
                    sharers.all_reduce(part);
            });
    }
    if (state.settings.type == at::kHalf)
        for (const at::Tensor& gradient : state.reduced)
            state.wide.push_back(gradient.to(at::kFloat));
}

at::Tensor GradientBuckets::sum_of(std::size_t shard) const
{
    const auto [bucket, entry] = state_->place_of(shard);
    return state_->lasts() ? Weights::view(state_->flat[bucket], *entry, state_->weights.shards()[shard])
                           : at::Tensor();
}

void GradientBuckets::count(std::size_t shard) const
{
    State* const state = state_.get();
    const std::size_t bucket = state->place_of(shard).first;
    lasting({"added", int64_t(bucket)}, [state, bucket] { state->added(bucket); });
}

void GradientBuckets::scale(const at::Tensor& factor)
{
    for (const at::Tensor& gradient : reduced())
        gradient.mul_(factor);
}

const std::vector<at::Tensor>& GradientBuckets::reduced() const
{
    return state_->wide.empty() ? state_->reduced : state_->wide;
}

std::vector<at::Tensor> GradientBuckets::whole() const
{
    const Weights& weights = state_->weights;
    std::vector<at::Tensor> gradients(weights.shards().size());
    for (std::size_t b = 0; b < weights.buckets().size(); ++b) {
        const at::Tensor flat = weights.whole(b, reduced()[b]);
        for (const BucketEntry& entry : weights.buckets()[b].entries)
            gradients[entry.shard] = Weights::view(flat, entry, weights.shards()[entry.shard]);
    }
    return gradients;
}

int64_t GradientBuckets::overlapped() const
{
    return state_->overlapped;
}

} // namespace fourfold::trainer
