// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/metrics/throughput.h"

#include "core/model/flops.h"

#include <algorithm>

namespace fourfold::trainer {

Throughput throughput(const ResolvedPlan& plan, double tokens, double time_s)
{
    Throughput result;
    const int64_t seq_len = plan.training.seq_len;
    result.tps_per_gpu = tokens / time_s / plan.gpus;
    result.tflops_per_gpu = result.tps_per_gpu * 1e-12
        * reported_flops_per_token(plan.model, plan.padded_vocab, seq_len, plan.training.flop_convention);
    const double peak = plan.cluster.gpu.peak_flops(plan.training.precision);
    if (peak > 0 && !is_of_products(plan.training.precision))
        result.mfu = result.tps_per_gpu * model_flops_per_token(plan.model, seq_len) / peak;
    return result;
}

Json spread_of(const OfRanks& values)
{
    OfRanks sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const auto most = std::max_element(values.begin(), values.end());
    const std::size_t middle = sorted.size() / 2;
    const double median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return {{"min", sorted.front()}, {"median", median}, {"max", sorted.back()}, {"worst_rank", most - values.begin()}};
}

} // namespace fourfold::trainer
