// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts that somebody has measured, kept by those who have them (published tables, the history).
#pragma once

#include "core/base/json.h"
#include "core/predict/prediction.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct MeasuredLayout {
    std::string stack; // preset id
    std::string model; // shape_key of its model, or the model's name
    std::string hardware; // id of the GPU, or the cluster's name
    int seq_len = 0; // 0: not known, any
    int tp = 1, cp = 1, pp = 1, dp = 1, micro_batch = 1;
    std::optional<std::array<Dimension, 4>> order; // empty: the stack's
    Json training = Json::object(); // what is known of it, by the keys of a plan's `training`
    double intra_node_gb_s = 0, inter_node_gb_s = 0; // its links (IntraNode::link_gb_s()); 0: not known, any
    std::string source{}, row{}; // of a table
    std::string metric{}; // tps_per_gpu, tflops_per_gpu, step_time_s; what was measured, in its unit; 0: not known
    double value = 0;
    int global_batch = 0; // 0: not known
    std::string release{}; // of the stack; empty: not known
};

// "h 4096 L 32": what a layout's cost follows from, whatever the model is called.
std::string shape_key(const ModelShape& model);

// A measured run's, whose plan is known whole.
MeasuredLayout measured_layout(const ResolvedPlan& plan);

// Whether both are the same job but for its layout and settings: stack (or the one it was calibrated from) and the
// release that the plan means, model, GPU and sequence length.
bool is_same_job(const MeasuredLayout& measured, const ResolvedPlan& plan);

// The same or a neighbour: equal but for one factor of two, in one degree (the number of GPUs follows), moved from one
// degree to another (the number of GPUs stays), or in the micro-batch. Other work is no neighbour: another sharding,
// recomputation, precision, attention kernel ..., ranks placed otherwise, or links of another speed. What is not known
// of a measured run was as its stack does it by default.
bool is_near(const MeasuredLayout& measured, const ResolvedPlan& plan);

// Factors of two by which degrees and micro-batch differ; empty where one differs by another factor.
std::optional<int> doublings_apart(const MeasuredLayout& measured, const ResolvedPlan& plan);

// Whether a neighbour can make its evidence "measured": the stack was fitted on this hardware, and there is an
// interval.
bool may_be_measured(const Prediction& prediction);

} // namespace fourfold
