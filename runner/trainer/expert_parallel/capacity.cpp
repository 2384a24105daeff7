// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/expert_parallel/capacity.h"

#include <ATen/ops/zeros.h>

#include <cmath>

namespace fourfold::trainer {

at::Tensor have_places(const at::Tensor& experts, int count, double capacity)
{
    const int64_t positions = experts.size(0), sequences = experts.size(1), active = experts.size(2);
    const auto places = int64_t(std::ceil(capacity * double(positions * active) / count));
    // Of each choice, how many before it in its sequence were of the same expert, itself included.
    const at::Tensor in_order = experts.transpose(0, 1).reshape({sequences, positions * active});
    const at::Tensor chosen = at::zeros({sequences, positions * active, count}, experts.options().dtype(at::kInt))
                                  .scatter_(-1, in_order.unsqueeze(-1), 1);
    const at::Tensor place = chosen.cumsum(1).gather(-1, in_order.unsqueeze(-1)).squeeze(-1);
    return place.le(places).view({sequences, positions, active}).transpose(0, 1).contiguous();
}

} // namespace fourfold::trainer
