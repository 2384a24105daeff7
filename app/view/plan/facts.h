// SPDX-License-Identifier: GPL-3.0-or-later
// Short facts that stand beside the inputs: what a plan's fields come to. Words around figures of the core.
#pragma once

#include "core/plan/plan.h"

#include <string>

namespace fourfold::view {

std::string parameters_fact(const ResolvedPlan& plan); // "70.6 B parameters"
std::string gpus_fact(const ResolvedPlan& plan); // "1,024 GPUs"
std::string nodes_fact(const ResolvedPlan& plan); // "128 nodes"
std::string product_fact(const ResolvedPlan& plan); // "8 x 2 x 8 x 8 = 1,024"
std::string tensor_fact(const ResolvedPlan& plan); // "inside one node", "across 2 nodes"
std::string context_fact(const ResolvedPlan& plan); // "4,096 tokens per rank"
std::string pipeline_fact(const ResolvedPlan& plan); // "10 layers per stage", "10 to 11 layers per stage"
std::string data_fact(const ResolvedPlan& plan); // "32 micro-batches"
std::string expert_fact(const ResolvedPlan& plan); // "32 experts per rank"; empty for a dense model
std::string tokens_fact(const ResolvedPlan& plan); // "8.4 M tokens per step"
std::string intra_node_fact(const Cluster& cluster); // "switch", "pairs", "torus"
std::string inter_node_fact(const Cluster& cluster); // "10 us, 4 NICs"
std::string gpu_fact(const Gpu& gpu); // "76.0 GiB, 989 TFLOP/s BF16"
// "sequence 128 -> 8,192, micro-batch 16 -> 1" with arrows; empty where these are as before.
std::string batch_change(const Training& before, const Training& after);
std::string schedule_fact(const ResolvedPlan& plan); // "1F1B, 4 stages x 32 micro-batches" with a cross
std::string layout_line(const Layout& layout); // "TP 8  CP 1  PP 4  DP 2"

} // namespace fourfold::view
