// SPDX-License-Identifier: GPL-3.0-or-later
// Text that a model goes on with.
#pragma once

#include "runner/trainer/inference/draw_token.h"
#include "runner/trainer/inference/loaded_model.h"

#include <functional>
#include <optional>

namespace fourfold::trainer {

// Up to `count` tokens behind `prompt`, fewer where `end` comes (which is the last then) or the positions end; `each`
// sees them as they come. Preconditions: the prompt is not empty and within the model's positions and vocabulary.
// Fails where the model gives no numbers: its weights are not finite.
Expected<std::vector<int64_t>> generate(const LoadedModel& model, std::vector<int64_t> prompt, int64_t count,
    std::optional<int64_t> end, const Sampling& sampling, const std::function<void(int64_t)>& each);

} // namespace fourfold::trainer
