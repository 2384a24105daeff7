// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

namespace fourfold::testing {

std::vector<Case> data_cases()
{
    return {
        {"dp2", {"gpus=2", "layout.dp=2"}, {}},
        {"dp4_without_overlap", {"gpus=4", "layout.dp=4", "training.overlap.grad_reduce=false"}, {}},
        {"dp2_zero1", {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
        {"dp3_zero1_uneven", {"gpus=3", "layout.dp=3", "training.sharding=\"optimizer\""},
            {"training.global_batch=6", "model.intermediate_size=50", "model.tie_word_embeddings=true"}},
        {"tp2_dp2_zero1", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
    };
}

std::vector<Sabotage> data_sabotages()
{
    return {
        {"gradient_reduction", "dp.all_reduce", {"gpus=2", "layout.dp=2"}, {}},
        {"sharded_gradient_reduction", "dp.reduce_scatter",
            {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
    };
}

} // namespace fourfold::testing
