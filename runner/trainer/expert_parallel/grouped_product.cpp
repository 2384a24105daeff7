// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/expert_parallel/grouped_product.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/device/kind.h"
#include "runner/trainer/device/upload.h"

#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace fourfold::trainer {

namespace {
// Inputs: x, the weights, and as many biases or none.
class Grouped : public GradientFunction {
public:
    Grouped(std::vector<int64_t> rows, bool adds_biases)
        : rows_(std::move(rows))
        , adds_biases_(adds_biases)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const auto weights_end = inputs.begin() + 1 + std::ptrdiff_t(rows_.size());
        kept = {inputs.begin(), weights_end};
        const at::Tensor y = products(kept);
        biased_ = weights_end != inputs.end();
        if (biased_ && adds_biases_)
            each([&](std::size_t expert, int64_t begin, int64_t count) {
                y.narrow(0, begin, count).add_(weights_end[std::ptrdiff_t(expert)]);
            });
        return {y};
    }
    [[nodiscard]] Repeat repeat() const override { return Repeat::product; }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        Tensors result = slopes(gradients[0], kept);
        if (biased_)
            each([&](std::size_t, int64_t begin, int64_t count) {
                result.push_back(gradients[0].narrow(0, begin, count).sum(0)); // of no rows: zero
            });
        return result;
    }

protected:
    // kept: x and the weights -> y, and from its slope those of x and the weights.
    [[nodiscard]] virtual at::Tensor products(const Tensors& kept) const = 0;
    [[nodiscard]] virtual Tensors slopes(const at::Tensor& slope, const Tensors& kept) const = 0;

    template <typename Use>
    void each(Use&& use) const
    {
        int64_t begin = 0;
        for (std::size_t expert = 0; expert < rows_.size(); begin += rows_[expert++])
            use(expert, begin, rows_[expert]);
    }

private:
    std::vector<int64_t> rows_;
    bool adds_biases_, biased_ = false;
};

class OneByOne final : public Grouped {
public:
    using Grouped::Grouped;

private:
    [[nodiscard]] at::Tensor products(const Tensors& kept) const override
    {
        const at::Tensor& x = kept[0];
        const at::Tensor y = at::empty({x.size(0), kept[1].size(0)}, x.options());
        each([&](std::size_t expert, int64_t begin, int64_t count) {
            at::Tensor part = y.narrow(0, begin, count);
            at::mm_out(part, x.narrow(0, begin, count), kept[expert + 1].t());
        });
        return y;
    }
    [[nodiscard]] Tensors slopes(const at::Tensor& slope, const Tensors& kept) const override
    {
        const at::Tensor& x = kept[0];
        Tensors result{at::empty(x.sizes(), x.options())};
        each([&](std::size_t expert, int64_t begin, int64_t count) {
            const at::Tensor own = slope.narrow(0, begin, count);
            at::Tensor part = result[0].narrow(0, begin, count);
            at::mm_out(part, own, kept[expert + 1]);
            result.push_back(at::mm(own.t(), x.narrow(0, begin, count))); // of no rows: zero
        });
        return result;
    }
};

class OneKernel final : public Grouped {
public:
    using Grouped::Grouped;

private:
    [[nodiscard]] at::Tensor products(const Tensors& kept) const override
    {
        std::vector<int32_t> ends;
        each([&](std::size_t, int64_t begin, int64_t count) { ends.push_back(int32_t(begin + count)); });
        ends_ = on_device(ends, kept[0].device());
        return product(kept[0], stacked(kept).transpose(-2, -1), ends_);
    }
    [[nodiscard]] Tensors slopes(const at::Tensor& any, const Tensors& kept) const override
    {
        const at::Tensor slope = any.contiguous();
        Tensors result{product(slope, stacked(kept), ends_)};
        const auto weights = product(slope.t(), kept[0], ends_).unbind(0);
        result.insert(result.end(), weights.begin(), weights.end());
        return result;
    }
    // [rows, in] x [experts, in, out] -> [rows, out]; [out, rows] x [rows, in] -> [experts, out, in]
    static at::Tensor product(const at::Tensor& a, const at::Tensor& b, const at::Tensor& ends)
    {
        if (!a.is_meta())
            return at::_grouped_mm(a, b, ends);
        // Which rows are whose does not change how much is computed: one product of as many operations stands for it.
        if (b.dim() == 3)
            return at::mm(a, b.select(0, 0));
        const at::Tensor out = at::empty({ends.size(0), a.size(0), b.size(1)}, a.options());
        at::Tensor first = out.select(0, 0);
        at::mm_out(first, a, b);
        return out;
    }
    static at::Tensor stacked(const Tensors& kept) { return at::stack(at::TensorList(kept).slice(1)); }

    mutable at::Tensor ends_; // of each expert's rows; int32
};

// Each expert's product as a linear's (model/linear.cpp), but that all experts' magnitudes are told at once. A rank
// whose expert has no rows tells them too.
class InFp8 final : public Grouped {
public:
    InFp8(std::vector<int64_t> rows, bool adds_biases, const Fp8Products& fp8, CutOver cut, std::vector<int64_t> runs)
        : Grouped(std::move(rows), adds_biases)
        , fp8_(fp8)
        , cut_(cut)
        , runs_(std::move(runs))
    {
    }

private:
    using Of = Fp8Products::Of;
    using Sums = Fp8Products::Sums;
    static constexpr int64_t kAtOnce = 16; // rows of a GPU's products

    [[nodiscard]] at::Tensor products(const Tensors& kept) const override
    {
        const at::Tensor y = at::empty({kept[0].size(0), kept[1].size(0)}, kept[0].options());
        multiply(parts(kept[0]), Of::activation, {kept.begin() + 1, kept.end()},
            cut_ == CutOver::rows ? Sums::parts : Sums::whole, y);
        return y;
    }
    [[nodiscard]] Tensors slopes(const at::Tensor& slope, const Tensors& kept) const override
    {
        Tensors result{at::empty(kept[0].sizes(), kept[0].options())}, turned;
        for (auto weight = kept.begin() + 1; weight != kept.end(); ++weight)
            turned.push_back(weight->t());
        multiply(parts(slope), Of::gradient, turned, cut_ == CutOver::columns ? Sums::parts : Sums::whole, result[0]);
        const Tensors left = along_tokens(slope), right = along_tokens(kept[0]);
        const Tensors of_left = fp8_.largest_of(left, Of::gradient, Sums::tokens),
                      of_right = fp8_.largest_of(right, Of::activation, Sums::tokens);
        for (std::size_t i = 0; i < left.size(); ++i)
            result.push_back(left[i].numel() == 0
                    ? at::zeros(kept[i + 1].sizes(), kept[i + 1].options())
                    : fp8_.product(fp8_.factor(left[i], Of::gradient, Sums::tokens, of_left[i]),
                        fp8_.factor(right[i], Of::activation, Sums::tokens, of_right[i]), kept[i + 1].scalar_type()));
        return result;
    }

    // The rows of each expert times its weight, into `out`.
    void multiply(Tensors rows, Of of, const Tensors& weights, Sums sums, const at::Tensor& out) const
    {
        if (!on_cpu(out) && fp8_.tokens_in_block() > 0) // whose scales lie in columns of a whole number of rows
            lengthen(rows, kAtOnce);
        const Tensors of_rows = fp8_.largest_of(rows, of, sums),
                      of_weights = fp8_.largest_of(weights, Of::weight, sums);
        each([&](std::size_t i, int64_t begin, int64_t count) {
            if (count == 0)
                return;
            const auto left = fp8_.factor(rows[i], of, sums, of_rows[i]),
                       right = fp8_.factor(weights[i], Of::weight, sums, of_weights[i]);
            const at::Tensor own = out.narrow(0, begin, count);
            if (rows[i].size(0) == count)
                fp8_.product_into(own, left, right);
            else
                own.copy_(fp8_.product(left, right, out.scalar_type()).narrow(0, 0, count));
        });
    }
    // With rows of zeros behind each, up to a multiple of `whole`; those of all experts in one tensor.
    static void lengthen(Tensors& parts, int64_t whole)
    {
        const auto length = [whole](const at::Tensor& part) { return (part.size(0) + whole - 1) / whole * whole; };
        int64_t rows = 0, missing = 0;
        for (const at::Tensor& part : parts) {
            rows += length(part);
            missing += length(part) - part.size(0);
        }
        if (missing == 0)
            return;
        const at::Tensor all = at::zeros({rows, parts[0].size(1)}, parts[0].options());
        rows = 0;
        for (at::Tensor& part : parts) {
            const int64_t begin = rows, own = part.size(0), longer = length(part);
            rows += longer;
            if (own > 0)
                all.narrow(0, begin, own).copy_(part);
            part = all.narrow(0, begin, longer);
        }
    }
    [[nodiscard]] Tensors parts(const at::Tensor& x) const
    {
        Tensors parts;
        each([&](std::size_t, int64_t begin, int64_t count) { parts.push_back(x.narrow(0, begin, count)); });
        return parts;
    }
    // [features, rows of an expert]. With zeros between, where runs are no whole number of what shares a scale, or of
    // what a GPU's products sum over at once.
    [[nodiscard]] Tensors along_tokens(const at::Tensor& x) const
    {
        const int64_t block = fp8_.tokens_in_block(), whole = block > 0 ? block : on_cpu(x) ? 1 : kAtOnce;
        const auto missing = [&](int64_t count) { return (whole - count % whole) % whole; };
        Tensors columns = parts(x);
        if (runs_.empty()) {
            lengthen(columns, whole);
            for (at::Tensor& part : columns)
                part = part.t();
            return columns;
        }
        std::vector<int64_t> index; // rows of x; its length: zeros
        std::vector<int64_t> begins{0}; // of experts, in `index`
        const std::size_t each_has = runs_.size() / columns.size();
        int64_t next = 0;
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            for (int64_t i = 0; i < runs_[run]; ++i)
                index.push_back(next++);
            index.insert(index.end(), std::size_t(missing(runs_[run])), x.size(0));
            if ((run + 1) % each_has == 0)
                begins.push_back(int64_t(index.size()));
        }
        const at::Tensor rows
            = at::cat({x, at::zeros({1, x.size(1)}, x.options())}).index_select(0, on_device(index, x.device()));
        for (std::size_t i = 0; i < columns.size(); ++i)
            columns[i] = rows.narrow(0, begins[i], begins[i + 1] - begins[i]).t();
        return columns;
    }

    const Fp8Products& fp8_;
    CutOver cut_;
    std::vector<int64_t> runs_;
};
} // namespace

at::Tensor grouped_linear(const at::Tensor& x, const std::vector<at::Tensor>& weights,
    const std::vector<at::Tensor>& biases, bool adds_biases, const std::vector<int64_t>& rows, const Fp8Products* fp8,
    CutOver cut, const std::vector<int64_t>& runs)
{
    std::vector<at::Tensor> inputs{x};
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    inputs.insert(inputs.end(), biases.begin(), biases.end());
    if (fp8 != nullptr)
        return trainer::apply(std::make_shared<InFp8>(rows, adds_biases, *fp8, cut, runs), inputs)[0];
    if (!on_cpu(x) && x.scalar_type() == at::kBFloat16)
        return trainer::apply(std::make_shared<OneKernel>(rows, adds_biases), inputs)[0];
    return trainer::apply(std::make_shared<OneByOne>(rows, adds_biases), inputs)[0];
}

} // namespace fourfold::trainer
