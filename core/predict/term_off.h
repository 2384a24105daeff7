// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a run's step is furthest from its prediction, by the trace of one step that the trainer sends.
#pragma once

#include "core/base/json.h"
#include "core/schedule/steady_part.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// Seconds of a step that an average stage spends in one kind of span; `waiting` is what no span covers. Micro-batches
// without spans take as long as the others.
struct TermOff {
    std::string term; // "forward", ..., "waiting"
    double predicted_s = 0, measured_s = 0;
    [[nodiscard]] double difference_s() const { return measured_s - predicted_s; }
};

// Every term of either timeline, the furthest off first.
std::vector<TermOff> terms_off(const ListedStep& predicted, const ListedStep& measured);

// The step that a stored run's plan predicts, with the constants of its stack's preset: a stored plan names them by id.
Expected<Timeline> predicted_step(const Json& plan);

// The measured step of a run, from the last trace among its events. Empty where there is none, or none that can be
// read.
std::optional<Timeline> measured_step(const std::vector<Json>& events);

// The furthest of a stored run: `plan` as it ran, `events` those that are not steps. Empty where the run has no trace.
std::optional<TermOff> term_most_off(const Json& plan, const std::vector<Json>& events);

// "backward: 0.058 s predicted, 0.150 s measured (+0.092 s)"
std::string term_off_text(const TermOff& term);

} // namespace fourfold
