// SPDX-License-Identifier: GPL-3.0-or-later
// Plans whose layers are recorded, for stand-ins on a CPU and for a GPU.
#pragma once

#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

inline constexpr int kGraphSteps = 3;
inline const std::vector<std::string> kAsksForGraphs{
    "cluster=\"dgx-h100\"", R"(run.environment={"FOURFOLD_CUDA_GRAPHS":"1"})"};

struct GraphCase {
    Case what;
    int layers; // that the rank with the fewest records
};

inline std::vector<GraphCase> graph_cases()
{
    const std::string four = "model.num_hidden_layers=4", eight = "model.num_hidden_layers=8";
    const auto mesh = [](const std::vector<std::string>& more) { return joined(kAsksForGraphs, more); };
    return {{{"one_rank", mesh({}), {"training.micro_batch=2"}}, 2}, {{"dp2", mesh({"gpus=2", "layout.dp=2"}), {}}, 2},
        {{"dp2_zero1", mesh({"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}), {}}, 2},
        {{"pp2_1f1b", mesh({"gpus=2", "layout.pp=2"}), {four}}, 2},
        {{"pp2_gpipe", mesh({"gpus=2", "layout.pp=2", "training.schedule=\"gpipe\""}), {four}}, 2},
        {{"pp2_interleaved",
             mesh({"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"interleaved\""}), {eight}},
            4},
        {{"every_second_recomputed", mesh({"training.recompute=\"full\"", "training.recompute_every=2"}), {four}}, 2},
        {{"windows", mesh({}), {kGemma}}, 2}, {{"dense_before_experts", mesh({}), {kTinyDeepseek}}, 1}};
}

} // namespace fourfold::testing
