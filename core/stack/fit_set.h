// SPDX-License-Identifier: GPL-3.0-or-later
// Which constants of a stack are fitted to measurements, and what is believed of each before any measurement. Data of
// the stack's preset (`fit`), read with it; the fitter (core/calibration/fit) does the work.
#pragma once

#include "core/base/json.h"

#include <string>
#include <vector>

namespace fourfold {

struct FittedConstant {
    std::string name; // in core/stack/constants.h
    double prior = 0; // the middle of what is believed
    // One standard deviation: of ln(value / prior), or of value - prior where `linear`.
    double width = 0;
    double low = 0, high = 0; // limits of the value
    bool linear = false; // for constants that may be 0
    bool stays = false; // stored with the GPUs that it was fitted on: others keep the stack's value
    // How the constant follows the overall speed of the software: +1 efficiencies, -1 times, 0 independent of it. One
    // measured row moves all of them together, see FitSet::overall_width.
    double overall = 0;
};

// Constants that are fitted together to one body of measurements.
struct FitSet {
    std::string name;
    std::vector<std::string> gpus; // the GPU presets that it was fitted on; empty: any
    // Standard deviation of ln(overall speed), a common part of the priors of all constants with an `overall` share.
    double overall_width = 0;
    std::vector<FittedConstant> shared; // one value for all GPUs
    std::vector<FittedConstant> per_gpu; // one value for each GPU
    std::vector<FittedConstant> memory; // of memory: one value for all GPUs, fitted in a problem of their own

    // Fitted numbers of the step time: shared + per_gpu * GPUs.
    [[nodiscard]] std::size_t time_constants() const
    {
        return shared.size() + per_gpu.size() * (gpus.empty() ? 1 : gpus.size());
    }
};

// `fit` of a stack preset: a list of sets. Names must be documented constants; priors lie within their bounds.
Expected<std::vector<FitSet>> fit_sets_from_json(const Json& json, const std::string& where);
Json to_json(const std::vector<FitSet>& sets);

// The set that holds for a GPU: the one that names it, else the first; null when there is none.
const FitSet* fit_set_for(const std::vector<FitSet>& sets, const std::string& gpu_id);

} // namespace fourfold
