// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/pipeline_parallel/weight_gradients.h"

#include "runner/trainer/autograd/gradient_function.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

namespace fourfold::trainer {

namespace {
// Of weights an output without elements, whose backward pass is the postponed work.
class Postponed final : public GradientFunction {
public:
    explicit Postponed(WeightGradients::Work work)
        : work_(std::move(work))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {at::empty({0}, inputs[0].options())}; }
    Tensors backward(const Tensors&, const Tensors&) override
    {
        return std::exchange(work_, nullptr)(); // the operands go with it
    }

private:
    WeightGradients::Work work_;
};
} // namespace

void WeightGradients::begin_postponing(Key key)
{
    now_ = &waiting_[key];
}

void WeightGradients::end_postponing()
{
    now_ = nullptr;
    offered_.clear();
}

bool WeightGradients::postpone(const std::vector<at::Tensor>& weights, Work work)
{
    if (now_ == nullptr)
        return false;
    Operation operation;
    for (const at::Tensor& weight : weights)
        operation.leaves.push_back(weight.unsafeGetTensorImpl());
    offered_.insert(operation.leaves.begin(), operation.leaves.end());
    const at::AutoGradMode with_graph(true); // backward passes have none
    operation.root = trainer::apply(std::make_shared<Postponed>(std::move(work)), weights)[0];
    now_->push_back(std::move(operation));
    return true;
}

void WeightGradients::catch_up()
{
    const at::NoGradGuard no_graph;
    if (left_)
        (void)std::exchange(left_, nullptr)();
}

void WeightGradients::run(Key key)
{
    auto node = waiting_.extract(key);
    if (node.empty())
        return;
    // A head that predicts several tokens is in several operations of a pass: its gradient is there with the last one.
    std::map<const at::TensorImpl*, int> left;
    for (const Operation& operation : node.mapped())
        for (const at::TensorImpl* leaf : operation.leaves)
            ++left[leaf];
    for (Operation& operation : node.mapped()) {
        offered_.clear();
        for (const at::TensorImpl* leaf : operation.leaves)
            if (--left[leaf] > 0)
                offered_.insert(leaf);
        operation.root.backward(at::empty_like(operation.root));
        operation.root.reset();
    }
    offered_.clear();
}

} // namespace fourfold::trainer
