// SPDX-License-Identifier: GPL-3.0-or-later
// Log lines of other training software: Megatron-LM and Megatron-DeepSpeed ("iteration 100/ 500 | ... |") and
// torchtitan ("step: 10 loss: 7.1 ...").
#pragma once

#include "core/base/json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

struct LoggedStep {
    int step = 0;
    std::optional<double> loss, grad_norm, learning_rate, step_time_s, tps_per_gpu, tflops_per_gpu, mfu, memory_gib;
    std::optional<double> loss_scale, samples, global_batch;
};

struct TrainingLog {
    std::string stack; // "megatron-lm", "megatron-deepspeed", "torchtitan"
    std::vector<LoggedStep> steps; // ascending; of a step that was logged twice (a restart) the last one
    // What the log says of the run itself, where it does.
    std::optional<int> gpus, seq_len;
    bool out_of_memory = false; // the log ends with CUDA's message
};

// Lines of nothing known are passed over, colour codes as well. Fails with bad_input when no step is found.
Expected<TrainingLog> parse_training_log(std::string_view text, const std::string& where);

// The log as `step` events with seq from 0 and an `end` event (status ok, or oom). Throughput that the log does not
// print follows from step time, global batch, `seq_len` and `gpus`.
std::vector<Json> events_of_log(
    const TrainingLog& log, int global_batch, int seq_len, int gpus, const std::string& time);

} // namespace fourfold
