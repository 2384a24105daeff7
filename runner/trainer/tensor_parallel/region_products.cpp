// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/region_products.h"

#include "runner/trainer/tensor_parallel/overlapped_products.h"
#include "runner/trainer/tensor_parallel/regions.h"

namespace fourfold::trainer {

RegionProducts::RegionProducts(const Communicator& tp, bool sequence_parallel, bool overlapped, WeightGradients& later)
    : tp_(tp)
    , sequence_parallel_(sequence_parallel)
    , overlapped_(overlapped && sequence_parallel && tp.size() > 1)
    , later_(later)
{
}

std::vector<at::Tensor> RegionProducts::enter(const at::Tensor& x, const std::vector<Affine>& layers) const
{
    if (overlapped_)
        return gathered_products(x, layers, tp_, later_);
    const at::Tensor entered = enter_region(x, tp_, sequence_parallel_);
    std::vector<at::Tensor> outputs;
    for (const Affine& layer : layers)
        outputs.push_back(linear(entered, layer, later_));
    return outputs;
}

at::Tensor RegionProducts::leave(const at::Tensor& x, const at::Tensor& weight) const
{
    if (overlapped_)
        return scattered_product(x, weight, tp_, later_);
    return leave_region(linear(x, {weight, {}}, later_), tp_, sequence_parallel_);
}

} // namespace fourfold::trainer
