// SPDX-License-Identifier: GPL-3.0-or-later
// A run of TensorBoard or Weights & Biases as a curve beside the history's own.
#pragma once

#include "app/view/curves/run_curves.h"
#include "core/dashboards/tracked_run.h"

#include <limits>
#include <map>

namespace fourfold::view {

// Which figure a logger's number is, by the names that trainers give theirs (Megatron-LM, torchtitan, Hugging Face's
// Trainer, Lightning, Fourfold); the least `rank` is the surest. `per_cent`: a share that comes as such.
struct TagMeaning {
    std::optional<CurveMetric> metric; // empty: the tokens so far
    int rank = 0;
    bool per_cent = false;
};
std::optional<TagMeaning> meaning_of_tag(std::string_view tag);

// What is kept of a run, by its steps: a step that is written again (a run that was resumed) has its last values.
class TrackerCurve {
public:
    explicit TrackerCurve(TrackedPlace place);
    // Reads what was appended since; whether there was something of use.
    Expected<bool> read();
    [[nodiscard]] CurveRun curve() const;
    static std::string id_of(const TrackedPlace& place);

private:
    void take(const TrackedValue& value);
    static constexpr std::size_t kColumns = kCurveMetrics + 1; // and the tokens
    struct Row {
        double time_s = 0;
        std::array<double, kColumns> values;
    };
    TrackedRun run_;
    std::map<std::int64_t, Row> rows_;
    std::map<std::string, std::optional<TagMeaning>, std::less<>> meanings_;
    std::array<std::string, kColumns> tags_; // that the columns are of
    std::array<int, kColumns> ranks_; // of those tags
    bool changed_ = false;
};

} // namespace fourfold::view
