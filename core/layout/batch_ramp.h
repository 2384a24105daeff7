// SPDX-License-Identifier: GPL-3.0-or-later
// The global batch of each step under a batch-size ramp-up: Megatron-LM's rule (Narayanan et al., megatron/core/
// num_microbatches_calculator.py, RampupBatchsizeNumMicroBatchesCalculator). The batch begins at `start` and grows by
// `increment` each time samples / (number of increments) sequences were taken, up to the plan's global batch.
#pragma once

#include "core/layout/run_settings.h"
#include "core/layout/training.h"

namespace fourfold {

// What a step takes from the data: the sequences `first` ... `first + size - 1` of the run.
struct StepBatch {
    double first = 0; // sequences of all steps before
    int size = 0; // sequences
};
// Of optimizer step `step`, counted from 0.
StepBatch step_batch(const Training& training, int step);
// The first step of the full global batch; 0 without a ramp-up.
int ramp_up_steps(const Training& training);

// Optimizer steps of a run: `run.steps`, else as many as `run.tokens` fill, else kDefaultSteps.
int total_steps(const Training& training, const RunSettings& run);

} // namespace fourfold
