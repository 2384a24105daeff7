// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/expert_parallel/grouped_product.h"

#include "runner/trainer/autograd/gradient_function.h"

#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

namespace fourfold::trainer {

namespace {
class OneByOne final : public GradientFunction {
public:
    explicit OneByOne(std::vector<int64_t> rows)
        : rows_(std::move(rows))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = inputs;
        const at::Tensor& x = inputs[0];
        const at::Tensor y = at::empty({x.size(0), inputs[1].size(0)}, x.options());
        each([&](std::size_t expert, int64_t begin, int64_t count) {
            at::Tensor part = y.narrow(0, begin, count);
            at::mm_out(part, x.narrow(0, begin, count), inputs[expert + 1].t());
        });
        return {y};
    }
    [[nodiscard]] Repeat repeat() const override { return Repeat::product; }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor &slope = gradients[0], &x = kept[0];
        Tensors result{at::empty(x.sizes(), x.options())};
        each([&](std::size_t expert, int64_t begin, int64_t count) {
            const at::Tensor own = slope.narrow(0, begin, count);
            at::Tensor part = result[0].narrow(0, begin, count);
            at::mm_out(part, own, kept[expert + 1]);
            result.push_back(at::mm(own.t(), x.narrow(0, begin, count))); // of no rows: zero
        });
        return result;
    }

private:
    template <typename Use>
    void each(Use&& use) const
    {
        int64_t begin = 0;
        for (std::size_t expert = 0; expert < rows_.size(); begin += rows_[expert++])
            use(expert, begin, rows_[expert]);
    }

    std::vector<int64_t> rows_;
};

class OneKernel final : public GradientFunction {
public:
    explicit OneKernel(const std::vector<int64_t>& rows)
    {
        int64_t end = 0;
        for (const int64_t count : rows)
            ends_.push_back(int32_t(end += count));
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = inputs;
        return {at::_grouped_mm(inputs[0], stacked(inputs).transpose(-2, -1), ends(inputs[0]))};
    }
    [[nodiscard]] Repeat repeat() const override { return Repeat::product; }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor slope = gradients[0].contiguous();
        Tensors result{at::_grouped_mm(slope, stacked(kept), ends(slope))};
        const auto weights = at::_grouped_mm(slope.t(), kept[0], ends(slope)).unbind(0);
        result.insert(result.end(), weights.begin(), weights.end());
        return result;
    }

private:
    static at::Tensor stacked(const Tensors& inputs) { return at::stack(at::TensorList(inputs).slice(1)); }
    [[nodiscard]] at::Tensor ends(const at::Tensor& like) const
    {
        return at::tensor(ends_, at::TensorOptions(at::kInt)).to(like.device());
    }

    std::vector<int32_t> ends_;
};
} // namespace

at::Tensor grouped_linear(const at::Tensor& x, const std::vector<at::Tensor>& weights, const std::vector<int64_t>& rows)
{
    std::vector<at::Tensor> inputs{x};
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    if (x.is_cuda() && x.scalar_type() == at::kBFloat16)
        return trainer::apply(std::make_shared<OneKernel>(rows), inputs)[0];
    return trainer::apply(std::make_shared<OneByOne>(rows), inputs)[0];
}

} // namespace fourfold::trainer
