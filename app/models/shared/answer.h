// SPDX-License-Identifier: GPL-3.0-or-later
// The answer strip in words: five figures of a prediction, each with what it is measured against and how sure it is,
// and the one-line verdict.
#pragma once

#include "core/predict/prediction.h"

#include <QString>

#include <array>
#include <span>

namespace fourfold::ui {

enum class Tone { neutral, good, warning, bad };

struct Figure {
    QString title, value, unit;
    QString shortUnit; // where there is no room for the unit; empty = the unit
    QString basis; // the denominator: "60.8 of 93.6 usable (65 %)"
    QString confidence; // "90 %: 67.0 to 75.5 GiB"
    QString detail; // for the tool tip, where the short lines leave something open
    double fraction = -1; // of the meter under the number, in [0, 1]; negative = none
    Tone tone = Tone::neutral; // of the meter
};
// A figure whose value is not known yet; those of a prediction and of a run under way have the same titles and units.
Figure unknownFigure(const QString& title, const QString& unit = {}, const QString& shortUnit = {});
Figure unknownThroughput();

std::array<Figure, 5> answerFigures(const Prediction& prediction);
// What explain() calls each of them.
const std::array<const char*, 5>& answerKeys();

struct Verdict {
    QString word; // "Fits.", "Tight.", "Does not fit."
    QString rest; // "19.3 GiB spare on the fullest GPU"
    Tone tone = Tone::neutral;
};
Verdict verdictOf(const Prediction& prediction);
// A plan that breaks a rule or does not resolve.
Verdict invalidVerdict(std::size_t fields);

// Each in a line of its own behind a line end, as the command prints it; empty without any.
QString warningLines(const std::vector<std::string>& warnings);

// "measured nearby", "calibrated on this hardware", "extrapolated".
QString evidenceText(Evidence evidence);

// The parts of a step in words, in the order in which people read them: work, its repetition, waiting, communication,
// the rest.
struct PartWord {
    Part part;
    const char* label; // to be translated
};
std::span<const PartWord> partWords();
QString partLabel(Part part);

} // namespace fourfold::ui
