// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/regions.h"

#include "runner/trainer/autograd/gradient_function.h"

#include <ATen/ops/empty.h>

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

// Along the sequence, while the other pass goes on.
class Exchanges {
public:
    Exchanges(const Communicator& tp, PassTurns* turns)
        : tp_(tp)
        , turns_(turns)
    {
    }
    [[nodiscard]] at::Tensor gathered(const at::Tensor& x) const
    {
        const at::Tensor own = x.contiguous(), whole = of_rows(own, own.size(0) * tp_.size());
        wait_for(tp_.start_all_gather(whole, own));
        return whole;
    }
    [[nodiscard]] at::Tensor scattered(const at::Tensor& x) const
    {
        const at::Tensor summand = x.contiguous(), sum = of_rows(summand, summand.size(0) / tp_.size());
        wait_for(tp_.start_reduce_scatter(sum, summand));
        return sum;
    }

private:
    static at::Tensor of_rows(const at::Tensor& x, int64_t rows)
    {
        auto shape = x.sizes().vec();
        shape.front() = rows;
        return at::empty(shape, x.options());
    }
    void wait_for(Handle handle) const
    {
        if (turns_ != nullptr)
            turns_->give();
        handle.wait();
    }

    const Communicator& tp_;
    PassTurns* turns_;
};

class Gather final : public GradientFunction {
public:
    explicit Gather(Exchanges exchanges)
        : exchanges_(exchanges)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {exchanges_.gathered(inputs[0])}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {exchanges_.scattered(gradients[0])}; }

private:
    Exchanges exchanges_;
};

class Scatter final : public GradientFunction {
public:
    explicit Scatter(Exchanges exchanges)
        : exchanges_(exchanges)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {exchanges_.scattered(inputs[0])}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {exchanges_.gathered(gradients[0])}; }
    [[nodiscard]] Repeat repeat() const override { return Repeat::costly; }

private:
    Exchanges exchanges_;
};

template <typename Border, typename Through>
at::Tensor across(const at::Tensor& x, const Through& through)
{
    return trainer::apply(std::make_shared<Border>(through), {x})[0];
}
} // namespace

at::Tensor enter_region(const at::Tensor& x, const Communicator& tp, bool sequence_parallel, PassTurns* turns)
{
    if (tp.size() == 1)
        return x;
    return sequence_parallel ? across<Gather>(x, Exchanges(tp, turns)) : across<Copy>(x, tp);
}

at::Tensor leave_region(const at::Tensor& x, const Communicator& tp, bool sequence_parallel, PassTurns* turns)
{
    if (tp.size() == 1)
        return x;
    return sequence_parallel ? across<Scatter>(x, Exchanges(tp, turns)) : across<Sum>(x, tp);
}

} // namespace fourfold::trainer
