// SPDX-License-Identifier: GPL-3.0-or-later
// The answer strip in words: five figures of a prediction, each with what it is measured against and how sure it is,
// and the one-line verdict.
#pragma once

#include "app/view/tone.h"
#include "core/predict/prediction.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace fourfold::view {

struct Figure {
    std::string title, value, unit;
    std::string short_unit; // where there is no room for the unit; empty = the unit
    std::string basis; // the denominator: "60.8 of 93.6 usable (65 %)"
    std::string confidence; // "90 %: 67.0 to 75.5 GiB"
    std::string detail; // where the short lines leave something open
    double fraction = -1; // of the meter under the number, in [0, 1]; negative = none
    Tone tone = Tone::neutral; // of the meter
};
// A figure whose value is not known yet; those of a prediction and of a run under way have the same titles and units.
Figure unknown_figure(const std::string& title, const std::string& unit = {}, const std::string& short_unit = {});
Figure unknown_throughput();

std::array<Figure, 5> answer_figures(const Prediction& prediction);
// What explain() calls each of them.
inline constexpr std::array<const char*, 5> kAnswerKeys{
    "memory_gib", "tps_per_gpu", "mfu", "step_time_s", "bubble_fraction"};

struct Verdict {
    std::string word; // "Fits.", "Tight.", "Does not fit."
    std::string rest; // "19.3 GiB spare on the fullest GPU"
    Tone tone = Tone::neutral;
};
Verdict verdict_of(const Prediction& prediction);
// A plan that breaks rules of `fields` fields, or that does not resolve (0).
Verdict invalid_verdict(std::size_t fields);

// Each in a line of its own behind a line end, as the command prints it; empty without any.
std::string warning_lines(const std::vector<std::string>& warnings);

// "measured nearby", "calibrated on this hardware", "extrapolated".
std::string evidence_text(Evidence evidence);

// The parts of a step in words, in the order in which people read them: work, its repetition, waiting, communication,
// the rest.
struct PartWord {
    Part part;
    const char* label;
};
std::span<const PartWord> part_words();
const char* part_label(Part part);

} // namespace fourfold::view
