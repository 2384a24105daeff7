// SPDX-License-Identifier: GPL-3.0-or-later
// From a model, GPUs and an amount of training to a plan that fits, its reasons, and what else would do.
#pragma once

#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "core/search/economics.h"
#include "core/search/search.h"
#include "core/start/questions.h"

#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

// What a person says; the rest is what those who train such a model on such GPUs take.
struct StartAnswers {
    Json model, cluster; // as in a plan: a preset's id or an object
    int gpus = 0;
    TrainingExtent extent;
    std::string stack; // empty: usual_stack()
    double price_per_gpu_hour = TrainingBudget::kUnknown;
};

// Tokens per step by active parameters, as published: 0.5 M below 10^9 and 1 M below 5 * 10^9 (GPT-3,
// arXiv:2005.14165, table 2.1), 4 M (Llama 2, arXiv:2307.09288, table 1: 7B to 70B), 16 M from 2 * 10^11 (Llama 3 405B,
// arXiv:2407.21783, section 3.4.1). Powers of two.
double usual_tokens_per_step(const ModelShape& model);

// The id of the stack with the most measured runs of such a model on the cluster's GPU, "fourfold" on CPUs, "generic"
// where nothing was measured.
std::string usual_stack(const ModelShape& model, const Cluster& cluster, const Presets& presets);

// Another layout worth a look.
struct RunnerUp {
    std::string differs; // from the recommended plan: "tp 8 -> 4, dp 2 -> 4"
    Plan plan;
    Prediction prediction;
    double speed_change = 0; // tokens/s of a GPU, against the recommended plan
};

struct Recommendation {
    Plan plan; // untitled: degrees, batch, schedule, sharding and recomputation are written, all else is a default
    Prediction prediction;
    Economics economics; // of the answered extent; its tokens are told where only a time was given
    std::vector<std::string> reasons; // why this layout, a sentence each
    std::vector<std::string> assumed; // what was not said and what it was taken to be, a sentence each
    std::vector<RunnerUp>
        runner_ups; // at most three, fastest first: other degrees, and the one that needs least memory
    SearchCounts counts;
};

// Searches every layout on those GPUs. Where none fits, the Problem (unsupported) says how many GPUs would be enough.
// A stop request ends it with `cancelled`.
Expected<Recommendation> recommend(const StartAnswers& answers, const Presets& presets,
    const SearchObserver& observer = {}, std::stop_token stop = {});

Json to_json(const Recommendation& recommendation);

} // namespace fourfold
