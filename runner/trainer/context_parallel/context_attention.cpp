// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/context_attention.h"

#include "runner/trainer/context_parallel/gather_attention.h"
#include "runner/trainer/context_parallel/ring_attention.h"

namespace fourfold::trainer {

at::Tensor context_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Communicator& cp, CpMethod method)
{
    const auto heads_first = [](const at::Tensor& x) { return x.permute({1, 2, 0, 3}); };
    const auto function = method == CpMethod::all_gather ? gather_attention(cp) : ring_attention(cp);
    const at::Tensor mixed = apply(function, {heads_first(query), heads_first(key), heads_first(value)})[0];
    return mixed.permute({2, 0, 1, 3}).reshape({query.size(0), query.size(1), -1});
}

} // namespace fourfold::trainer
