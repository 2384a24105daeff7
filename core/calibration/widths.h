// SPDX-License-Identifier: GPL-3.0-or-later
// Half-widths of 90 % intervals from errors of predictions that had no part in the rows: by group (rows of one group
// vouch for each other), and by how far a prediction is from what was measured.
#pragma once

#include "core/calibration/coverage.h"
#include "core/calibration/score_card.h"
#include "core/predict/interval.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct GroupedError {
    std::string group;
    double error = 0; // ln(predicted / measured)
};

// The half-width that holds `confidence` of the errors where each group counts the same, however many rows it has.
double grouped_width(const std::vector<GroupedError>& errors, double confidence = kIntervalConfidence);

// From this many groups on the width is conformal; below it is that of the groups, widened for there being few of them
// and drawn towards `usual`, which counts as kUsualGroups groups: a hierarchical predictive interval.
inline constexpr int kManyGroups = 20;
inline constexpr double kUsualGroups = 2;
double predictive_width(const std::vector<GroupedError>& errors, const std::optional<double>& usual = {});

// Squares of errors less the variance that is accounted for already.
struct GroupedSquare {
    std::string group;
    double square = 0;
};
// The half-width that holds 90 % of the effects of a further group, where those of the known groups are a sample from
// one normal distribution about 0: Student's t with as many degrees of freedom as groups. Each counts the same.
double effect_width(const std::vector<GroupedSquare>& squares);

// From this many groups on their 90 % point is one of them (8.1st of 9) and needs no normal distribution.
inline constexpr int kEnoughGroups = 9;

// What is left of an error beyond a half-width, in squares: the error that another cause must have made.
double beyond(double error, double half_width);

// A row predicted without it.
struct OuterError {
    enum class Kind {
        left_out, // by its own software, fitted without its group
        elsewhere, // by the same software fitted to another source alone, or to GPUs of other generations
        unmeasured, // by a software of which nothing was measured
    };
    Kind kind = Kind::left_out;
    std::string source, stack, gpu, group;
    Band band = Band::node;
    bool experts = false;
    double error = 0;
    std::string generation = {}; // of the GPU
    // elsewhere: those that the prediction rests on had none of this GPU, none of its generation.
    bool new_gpu = false, new_generation = false;
    std::string family = {}; // of the model: those that differ in their layers' number alone are one
};
std::string_view name(OuterError::Kind kind); // "left out", "same software, elsewhere", "software never measured"

// Of every row of the cards' cores that ran: left out where the source has folds, predicted by what other sources and
// GPUs of other generations say alone, by stacks that its entry in sources.json names (`also_with`) and by `generic`.
std::vector<OuterError> outer_errors(
    const std::vector<ScoreCard>& cards, const TableSources& sources, const Presets& presets);

// Half-widths, to be added in squares.
struct Widths {
    using Bands = std::array<double, 3>; // by Band
    std::map<std::pair<std::string, std::string>, Bands> measured; // by stack and GPU
    Bands usual{}; // of measured software
    double elsewhere = 0, unmeasured = 0;
    double gpu = 0; // of a generation that the software was never measured on; one that it was adds nothing of its own
    double experts = 0; // of software that was never measured with them
    std::map<std::string, double> experts_of; // by stack that was measured with experts
    [[nodiscard]] double of(const OuterError& error) const;
};
Widths widths_of(const std::vector<OuterError>& errors);

// The same errors against widths that they had no part in: each left-out group against those of the other groups, each
// source against those of the other sources. By kind of prediction, dense models by band, then experts.
std::vector<Coverage> nested_coverage(const std::vector<OuterError>& errors);

} // namespace fourfold
