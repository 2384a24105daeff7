// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/region_products.h"

#include "runner/trainer/autograd/kept_results.h"
#include "runner/trainer/tensor_parallel/regions.h"

#include <ATen/ops/linear.h>

namespace fourfold::trainer {

RegionProducts::RegionProducts(
    const Communicator& tp, bool sequence_parallel, GatheredRows rows, WeightGradients& later, const Fp8Products* fp8)
    : tp_(tp)
    , sequence_parallel_(sequence_parallel)
    , gathers_(sequence_parallel && tp.size() > 1)
    , rows_(rows)
    , later_(later)
    , fp8_(fp8)
{
}

std::vector<at::Tensor> RegionProducts::enter(const at::Tensor& x, const std::vector<Affine>& layers) const
{
    // A pass that keeps results of products repeats the gather just before its backward pass, and lives no longer.
    const bool again = !rows_.kept && KeptResults::in_use() == nullptr;
    if (gathers_ && (rows_.in_pieces || again))
        return gathered_products(x, layers, tp_, later_, fp8_, rows_);
    const at::Tensor entered = border(x);
    ProductRules rules{fp8_, CutOver::columns};
    if (fp8_ != nullptr && layers.size() > 1) {
        rules.largest_x = fp8_->largest(entered, Fp8Products::Of::activation);
        rules.rounded_x = std::make_shared<Fp8Products::Factor>();
    }
    std::vector<at::Tensor> outputs;
    for (const Affine& layer : layers)
        outputs.push_back(linear(entered, layer, later_, rules));
    if (rules.rounded_x != nullptr)
        *rules.rounded_x = {}; // the graph holds the rules
    return outputs;
}

at::Tensor RegionProducts::border(const at::Tensor& x) const
{
    return enter_region(x, tp_, sequence_parallel_, rows_.turns);
}

at::Tensor RegionProducts::summed(const at::Tensor& x) const
{
    return leave_region(x, tp_, sequence_parallel_, rows_.turns);
}

at::Tensor RegionProducts::outside(const at::Tensor& x, const at::Tensor& weight) const
{
    return fp8_ == nullptr ? at::linear(x, weight) : linear(x, {weight, {}}, later_, {fp8_, CutOver::tokens});
}

at::Tensor RegionProducts::within(const at::Tensor& x, const at::Tensor& weight) const
{
    return fp8_ == nullptr ? at::linear(x, weight) : linear(x, {weight, {}}, later_, {fp8_, CutOver::columns});
}

at::Tensor RegionProducts::leave(const at::Tensor& x, const at::Tensor& weight) const
{
    if (gathers_ && rows_.in_pieces)
        return scattered_product(x, weight, tp_, later_, fp8_, rows_);
    const ProductRules rules{.fp8 = fp8_, .cut = CutOver::rows, .summed = tp_.size() > 1};
    return summed(linear(x, {weight, {}}, later_, rules));
}

} // namespace fourfold::trainer
