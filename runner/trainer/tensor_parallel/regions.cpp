// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/regions.h"

#include "runner/trainer/autograd/gradient_function.h"

namespace fourfold::trainer {

namespace {
at::Tensor all_reduced(const at::Tensor& x, const Communicator& group)
{
    const at::Tensor sum = x.clone(at::MemoryFormat::Contiguous);
    group.all_reduce(sum);
    return sum;
}

class Copy final : public GradientFunction {
public:
    explicit Copy(const Communicator& tp)
        : tp_(tp)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {inputs[0].view_as(inputs[0])}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {all_reduced(gradients[0], tp_)}; }

private:
    const Communicator& tp_;
};

class Sum final : public GradientFunction {
public:
    explicit Sum(const Communicator& tp)
        : tp_(tp)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {all_reduced(inputs[0], tp_)}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {gradients[0]}; }
    [[nodiscard]] Repeat repeat() const override { return Repeat::costly; }

private:
    const Communicator& tp_;
};

class Gather final : public GradientFunction {
public:
    explicit Gather(const Communicator& tp)
        : tp_(tp)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {tp_.all_gather(inputs[0])}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {tp_.reduce_scatter(gradients[0])}; }

private:
    const Communicator& tp_;
};

class Scatter final : public GradientFunction {
public:
    explicit Scatter(const Communicator& tp)
        : tp_(tp)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {tp_.reduce_scatter(inputs[0])}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {tp_.all_gather(gradients[0])}; }
    [[nodiscard]] Repeat repeat() const override { return Repeat::costly; }

private:
    const Communicator& tp_;
};

template <typename Border>
at::Tensor across(const at::Tensor& x, const Communicator& tp)
{
    return trainer::apply(std::make_shared<Border>(tp), {x})[0];
}
} // namespace

at::Tensor enter_region(const at::Tensor& x, const Communicator& tp, bool sequence_parallel)
{
    if (tp.size() == 1)
        return x;
    return sequence_parallel ? across<Gather>(x, tp) : across<Copy>(x, tp);
}

at::Tensor leave_region(const at::Tensor& x, const Communicator& tp, bool sequence_parallel)
{
    if (tp.size() == 1)
        return x;
    return sequence_parallel ? across<Scatter>(x, tp) : across<Sum>(x, tp);
}

} // namespace fourfold::trainer
