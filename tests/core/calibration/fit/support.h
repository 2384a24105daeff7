// SPDX-License-Identifier: GPL-3.0-or-later
// Rows with known answers: the cost model's own predictions under other constants.
#pragma once

#include "core/calibration/fit/fit.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace fourfold::test {

inline const Presets& shipped()
{
    static const Presets kPresets(std::vector<std::filesystem::path>{FOURFOLD_SOURCE_DIR "/presets"});
    return kPresets;
}

template <typename T>
T must(Expected<T> result)
{
    if (!result)
        throw std::runtime_error(result.error().line());
    return *std::move(result);
}

struct Shape {
    int tp, cp, pp, gpus, micro_batch;
    int seq_len = 8192;
};

inline ResolvedPlan plan_of(const Shape& shape, const std::string& cluster = "dgx-h100")
{
    const Json json = {{"fourfold_plan", 1}, {"model", "llama-3.1-8b"}, {"cluster", cluster}, {"gpus", shape.gpus},
        {"stack", "generic"}, {"layout", {{"tp", shape.tp}, {"cp", shape.cp}, {"pp", shape.pp}}},
        {"training", {{"seq_len", shape.seq_len}, {"micro_batch", shape.micro_batch}, {"global_batch", 256}}}};
    return must(resolve(must(plan_from_json(json, "test")), shipped()));
}

inline const std::vector<Shape>& shapes()
{
    static const std::vector<Shape> kShapes{{8, 1, 1, 8, 1}, {4, 1, 1, 8, 1}, {4, 1, 2, 8, 1}, {2, 1, 4, 16, 1},
        {8, 1, 1, 16, 2}, {2, 2, 2, 16, 1}, {8, 1, 2, 32, 1}, {4, 2, 1, 32, 1, 16384}, {4, 1, 4, 64, 2},
        {8, 1, 1, 64, 1, 4096}, {2, 1, 2, 64, 1}, {4, 4, 1, 64, 1, 32768}};
    return kShapes;
}

// Rows "measured" with the constants of `truth`.
inline std::vector<FitRow> measured(const Stack& truth, const std::string& cluster = "dgx-h100")
{
    std::vector<FitRow> rows;
    for (const Shape& shape : shapes()) {
        FitRow row;
        row.plan = plan_of(shape, cluster);
        row.label = "row " + std::to_string(rows.size());
        const RowPrediction answer = predict_row(truth, row);
        row.step_time_s = answer.step_time_s;
        row.memory_gib = answer.memory_gib;
        rows.push_back(row);
    }
    return rows;
}

inline Stack generic_with(const std::map<std::string, double>& constants)
{
    Stack stack = must(shipped().stack("generic"));
    for (const auto& [name, value] : constants)
        stack.constants[name] = value;
    return stack;
}

inline const ConstantEstimate& estimate(const FitResult& fit, const std::string& name)
{
    for (const ConstantEstimate& constant : fit.constants) {
        if (constant.name == name)
            return constant;
    }
    throw std::runtime_error("nothing was fitted for " + name);
}

} // namespace fourfold::test
