// SPDX-License-Identifier: GPL-3.0-or-later
// Where a number of a prediction comes from: a tree whose children make up their parent.
//
// Every node has a label, a value in `unit` and how the value follows from its children or inputs; leaves are
// operations, allocations, and values of the plan, the GPU's data sheet or the stack's constants. Where the children
// are parts of a sum (`sum`), they add up to the value exactly: what hides behind other work is a child of its own with
// a negative value.
#pragma once

#include "core/predict/prediction.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct Explanation {
    std::string label; // "compute", "qkv projection", "stage 0"
    std::optional<double> value; // empty: not known (a broken rule)
    std::string unit; // "s", "GiB", "tokens/s", "TFLOP/s", "ratio"; "" for counts
    std::string formula; // with its numbers: "2 m n k = 2 * 8192 * ... = 3.1 ms"; empty where there is nothing to add
    std::string source; // paper, data sheet, "plan", "stack constant gemm_efficiency" ...
    bool sum = false; // the children add up to the value
    std::vector<Explanation> children;
};

// Figures that can be opened, by their key in `predict --json`: step_time_s, tps_per_gpu, mfu, tflops_per_gpu,
// memory_gib, memory_device_gib, bubble_fraction, interval. One that the prediction lacks has an empty value.
const std::vector<std::string>& explained_figures();
// Fails on a name that is not in explained_figures().
Expected<Explanation> explain(const Prediction& prediction, const std::string& figure);

// Of the memory of one stage, in GiB; one that the prediction lacks has an empty value.
Explanation explain_stage(const Prediction& prediction, int stage);

// Of one bar of the timeline, `seconds` long: what a stage does in it, beside the operations that are priced.
Explanation explain_span(const Prediction& prediction, SpanKind kind, double seconds);

// {"label", "value", "unit", "formula", "source", "children"}: what the key `explanation` of `predict --json --explain`
// holds for each figure.
Json to_json(const Explanation& explanation);
Json explanation_json(const Prediction& prediction); // every figure by its key

} // namespace fourfold
