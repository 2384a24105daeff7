// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/autograd/kept_results.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace fourfold::trainer {

namespace {
thread_local KeptResults* now_in_use = nullptr;

// Of the same shape, in the memory of one element.
at::Tensor without_values(const at::Tensor& tensor)
{
    at::Tensor shape = at::empty({1}, tensor.options());
    shape.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), std::vector<int64_t>(tensor.dim(), 0));
    return shape;
}

int place_of(const at::Tensor& tensor, const std::vector<at::Tensor>& among)
{
    const auto found = std::ranges::find_if(among, [&](const at::Tensor& other) { return other.is_same(tensor); });
    return found == among.end() ? -1 : int(found - among.begin());
}
} // namespace

KeptResults::Use::Use(KeptResults& results, bool repeated)
    : before_(std::exchange(now_in_use, &results))
{
    results.repeated_ = repeated;
    results.products_ = 0;
    results.next_ = 0;
}

KeptResults::Use::~Use()
{
    now_in_use = before_;
}

KeptResults* KeptResults::in_use()
{
    return now_in_use;
}

bool KeptResults::keeps(const GradientFunction& function)
{
    switch (function.repeat()) {
    case Repeat::again:
        return false;
    case Repeat::product:
        return choice_ == Choice::products || products_++ % 2 == 0;
    case Repeat::summed: // the sum is kept
        ++products_;
        return true;
    case Repeat::costly:
        return choice_ == Choice::operations;
    }
    return false;
}

KeptResults::Tensors KeptResults::forward(GradientFunction& function, const Tensors& inputs, Tensors& kept)
{
    if (!keeps(function))
        return function.forward(inputs, kept);
    if (!repeated_) {
        Tensors outputs = function.forward(inputs, kept);
        const bool unread = choice_ == Choice::operations && function.repeat() == Repeat::summed;
        Result result;
        for (const at::Tensor& output : outputs)
            if (unread)
                result.in_their_place.push_back(without_values(output));
            else
                result.outputs.emplace_back(output);
        for (const at::Tensor& tensor : kept) {
            Keepsake keepsake{place_of(tensor, inputs), place_of(tensor, outputs), {}};
            if (keepsake.input < 0 && keepsake.output < 0)
                keepsake.own = KeptTensor(tensor);
            result.keepsakes.push_back(std::move(keepsake));
        }
        results_.push_back(std::move(result));
        return outputs;
    }
    const Result result = std::exchange(results_.at(next_++), {}); // what takes it is the last that needs it
    Tensors outputs = result.in_their_place;
    for (const KeptTensor& output : result.outputs)
        outputs.push_back(output.get());
    for (const Keepsake& keepsake : result.keepsakes)
        kept.push_back(keepsake.input >= 0 ? inputs[std::size_t(keepsake.input)]
                : keepsake.output >= 0     ? outputs[std::size_t(keepsake.output)]
                                           : keepsake.own.get());
    return outputs;
}

} // namespace fourfold::trainer
