// SPDX-License-Identifier: GPL-3.0-or-later
// How likely a model finds texts: continuations of contexts, choices between them, whole token files.
#pragma once

#include "runner/trainer/inference/loaded_model.h"
#include "runner/trainer/inference/texts.h"

#include "core/base/json.h"

#include <functional>

namespace fourfold::trainer {

// JSON lines, each {"context", "continuation"} or {"context", "choices": [...], "answer": place}: texts, or arrays of
// token ids. A context and its continuation are cut into tokens together, as EleutherAI's lm-evaluation-harness does it
// (blanks at the context's end belong to the continuation). `each` gets one answer per line, in order:
//   {"line", "log_likelihood", "tokens", "greedy"}; greedy: each token was the likeliest
//   {"line", "log_likelihoods": [...], "best", "best_normalised", "answer"}; normalised: by the characters of a choice
//   (of ids by their number)
// Returns {"lines", "log_likelihood", "tokens", "nats_per_token", "perplexity", "greedy", "choices", "accuracy",
// "accuracy_normalised"}. A line that cannot be scored is a Problem that names it.
Expected<Json> score_lines(const LoadedModel& model, const Texts& texts, const std::filesystem::path& file,
    const std::function<void(const Json&)>& each);

// A token file (data of a plan) in windows of `seq_len` tokens that follow each other, each with the token behind it as
// its last label; what is left at the end is not scored. {"windows", "tokens", "nats_per_token", "perplexity"}.
Expected<Json> score_tokens(const LoadedModel& model, const std::filesystem::path& file, int64_t seq_len,
    const std::function<void(int64_t done, int64_t windows)>& progress);

} // namespace fourfold::trainer
