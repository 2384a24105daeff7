// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data_parallel/gradient_buckets.h"

#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace fourfold::trainer {

struct GradientBuckets::State {
    const Weights& weights;
    const Mesh& mesh;
    bool sequence_parallel = false, overlap = false;
    std::vector<at::Tensor> flat, reduced; // beside buckets
    std::vector<at::Tensor> gradients; // beside shards, views into flat
    std::vector<std::size_t> missing; // gradients of each bucket that the armed backward pass has yet to add
    std::vector<Handle> reductions;
    std::size_t issued = 0; // reductions are issued in bucket order on every rank, whatever order autograd finishes in
    bool armed = false;
    int64_t overlapped = 0;

    void issue_next()
    {
        const Communicator& replicas = mesh.replicas;
        reductions[issued] = weights.sharded() ? replicas.start_reduce_scatter(reduced[issued], flat[issued])
                                               : replicas.start_all_reduce(flat[issued]);
        ++issued;
    }

    void completed(std::size_t bucket)
    {
        if (!armed || --missing[bucket] > 0)
            return;
        while (issued < flat.size() && missing[issued] == 0) {
            issue_next();
            ++overlapped;
        }
    }
};

namespace {
// Runs after a weight's gradient was added to, also inside the nested backward of a recomputed block.
struct Completed : torch::autograd::PostAccumulateGradHook {
    explicit Completed(std::function<void(const at::Tensor&)> own)
        : action(std::move(own))
    {
    }
    void operator()(const at::Tensor& weight) override { action(weight); }
    std::function<void(const at::Tensor&)> action;
};
} // namespace

GradientBuckets::GradientBuckets(const Weights& weights, const Mesh& mesh, bool sequence_parallel, bool overlap)
    : state_(std::make_unique<State>(State{weights, mesh, sequence_parallel, overlap, {}, {}, {}, {}, {}, 0, false, 0}))
{
    state_->gradients.resize(weights.shards().size());
    for (std::size_t b = 0; b < weights.buckets().size(); ++b) {
        const auto options = weights.masters()[b].options();
        state_->flat.push_back(at::zeros({weights.buckets()[b].elements}, options));
        state_->reduced.push_back(
            weights.sharded() ? at::zeros({weights.part_elements(b)}, options) : state_->flat.back());
        for (const BucketEntry& entry : weights.buckets()[b].entries) {
            const at::Tensor& leaf = weights.leaves()[entry.shard];
            at::Tensor& gradient = state_->gradients[entry.shard];
            gradient = Weights::view(state_->flat[b], entry, weights.shards()[entry.shard]);
            // Autograd adds into a gradient of the leaf's own type by itself.
            const bool direct = gradient.scalar_type() == leaf.scalar_type();
            if (direct)
                leaf.mutable_grad() = gradient;
            torch::autograd::impl::set_post_acc_grad_hooks(leaf,
                std::make_unique<Completed>([state = state_.get(), b, direct, gradient](const at::Tensor& weight) {
                    if (!direct) {
                        gradient.add_(weight.grad());
                        weight.mutable_grad().reset();
                    }
                    state->completed(b);
                }));
        }
    }
    state_->missing.resize(state_->flat.size());
    state_->reductions.resize(state_->flat.size());
}

GradientBuckets::~GradientBuckets()
{
    for (const at::Tensor& leaf : state_->weights.leaves())
        torch::autograd::impl::set_post_acc_grad_hooks(leaf, nullptr);
}

void GradientBuckets::clear()
{
    for (const at::Tensor& flat : state_->flat)
        flat.zero_();
}

void GradientBuckets::arm_last_backward()
{
    state_->issued = 0;
    for (std::size_t b = 0; b < state_->flat.size(); ++b)
        state_->missing[b] = state_->weights.buckets()[b].entries.size();
    state_->armed = state_->overlap;
}

void GradientBuckets::finish()
{
    State& state = *state_;
    state.armed = false;
    while (state.issued < state.flat.size())
        state.issue_next();
    for (Handle& reduction : state.reductions)
        reduction.wait();
    // What TP ranks or the ends of the pipeline share they also have to add up; on the finished sums, as addition
    // commutes.
    for (std::size_t b = 0; b < state.flat.size(); ++b) {
        const Replication replication = state.weights.buckets()[b].replication;
        if (replication == Replication::tp && state.sequence_parallel)
            state.mesh.tp.all_reduce(state.reduced[b]);
        else if (replication == Replication::kv)
            state.mesh.kv.all_reduce(state.reduced[b]);
        else if (replication == Replication::ends)
            state.mesh.ends.all_reduce(state.reduced[b]);
    }
}

const at::Tensor& GradientBuckets::gradient(std::size_t shard) const
{
    return state_->gradients[shard];
}
const std::vector<at::Tensor>& GradientBuckets::reduced() const
{
    return state_->reduced;
}
const std::vector<at::Tensor>& GradientBuckets::flat() const
{
    return state_->flat;
}
int64_t GradientBuckets::overlapped() const
{
    return state_->overlapped;
}

} // namespace fourfold::trainer
