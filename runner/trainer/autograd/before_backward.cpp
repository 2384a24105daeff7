// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/autograd/before_backward.h"

#include "runner/trainer/autograd/gradient_function.h"

#include <utility>

namespace fourfold::trainer {

namespace {
class BeforeBackward final : public GradientFunction {
public:
    explicit BeforeBackward(std::function<void()> action)
        : action_(std::move(action))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {inputs[0].view_as(inputs[0])}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override
    {
        action_();
        return gradients;
    }

private:
    std::function<void()> action_;
};
} // namespace

at::Tensor before_backward(const at::Tensor& y, std::function<void()> action)
{
    return apply(std::make_shared<BeforeBackward>(std::move(action)), {y})[0];
}

} // namespace fourfold::trainer
