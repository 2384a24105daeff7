// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/metrics/throughput.h"

#include "core/model/flops.h"

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

} // namespace fourfold::trainer
