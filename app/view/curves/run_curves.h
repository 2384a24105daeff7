// SPDX-License-Identifier: GPL-3.0-or-later
// Runs laid over each other: what each of them measured step by step, stored and live, over steps, tokens or time,
// smoothed, alone or as groups of repeats with a band.
#pragma once

#include "app/view/curves/curve_points.h"
#include "core/base/words.h"
#include "core/history/store.h"
#include "core/predict/prediction.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fourfold::view {

enum class CurveMetric { loss, throughput, step_time, gradient_norm, mfu };
enum class CurveAxis { step, tokens, time };
enum class CurveGroups { none, plan, tag };

} // namespace fourfold::view

namespace fourfold {
template <>
inline constexpr auto kWords<view::CurveMetric> = std::to_array<std::string_view>(
    {"loss", "throughput", "step_time", "gradient_norm", "mfu"});
template <>
inline constexpr auto kWords<view::CurveAxis> = std::to_array<std::string_view>({"step", "tokens", "time"});
template <>
inline constexpr auto kWords<view::CurveGroups> = std::to_array<std::string_view>({"none", "plan", "tag"});
} // namespace fourfold

namespace fourfold::view {

inline constexpr std::size_t kCurveMetrics = kWords<CurveMetric>.size();
const char* title_of(CurveMetric metric); // "Gradient norm"
const char* unit_of(CurveMetric metric); // "tokens/s per GPU"
const char* title_of(CurveAxis axis); // "Step"
// A place on an axis: "1,200", "8.4 M", "12 min 30 s".
std::string axis_text(CurveAxis axis, double value);

// What was predicted of a figure, with the ends of the 90 % interval.
struct CurveForecast {
    double value = 0;
    std::optional<CurveRange> interval;
    bool operator==(const CurveForecast&) const = default;
};

// A run's steps by column, each as long as `step`.
struct CurveRun {
    std::string id, name;
    std::string plan; // the same for runs of one plan, whatever their names and seeds
    std::vector<std::string> tags;
    bool expected = false; // no run, but what a recipe expects of one
    Training training; // tells the tokens of a step
    std::vector<double> step, tokens, seconds; // seconds: since the run's first step
    // In the units of the charts: tokens/s per GPU, s, per cent of the dense peak. NaN where it was not told.
    std::array<std::vector<float>, kCurveMetrics> values;
    std::array<std::optional<CurveForecast>, kCurveMetrics> forecasts;

    void append(int number, double at_s, const StepValues& step); // unless it is there already
};
CurveRun curve_run(const RunDetail& run);

struct CurveLine {
    std::string key; // of the run or group
    std::string name; // none twice
    std::size_t colour = 0; // stays as long as the run is there
    std::size_t runs = 1;
    std::vector<CurvePoint> points; // smoothed
    std::vector<CurvePoint> raw; // behind smoothed ones; empty where nothing is smoothed
    std::vector<CurvePoint> low, high; // of a group of several: least and most of its runs at the same places
};

struct CurvePicture {
    std::vector<CurveLine> lines; // those that are shown and have values
    CurveRange x, y; // of all that is in it
    std::optional<CurveForecast> forecast; // where all runs on show have the same
};

class RunCurves {
public:
    // Runs that are not among `ids` go.
    void keep(const std::vector<std::string>& ids);
    [[nodiscard]] std::optional<std::size_t> steps_of(const std::string& id) const; // empty: it is not held
    void add(CurveRun run); // in the place of the one with this id
    // A `step` event of a run that is held; whether it was news.
    bool append(const std::string& id, const Json& event);
    // Of runs; what is expected of them is none.
    [[nodiscard]] std::size_t count() const
    {
        return static_cast<std::size_t>(
            std::ranges::count_if(runs_, [](const Held& held) { return !held.run.expected; }));
    }

    void set_axis(CurveAxis axis);
    void set_groups(CurveGroups groups);
    void set_smoothing(double weight); // as of a Smoother
    void set_range(const std::optional<CurveRange>& range); // of the axis; empty: all of it
    void set_shown(const std::string& key, bool shown);
    [[nodiscard]] CurveAxis axis() const { return axis_; }
    [[nodiscard]] CurveGroups groups() const { return groups_; }
    [[nodiscard]] double smoothing() const { return smoothing_; }
    [[nodiscard]] const std::optional<CurveRange>& range() const { return range_; }

    // From end to end of what the runs on show have of the axis; empty where there is nothing.
    [[nodiscard]] std::optional<CurveRange> whole() const;

    struct Entry {
        std::string key, name;
        std::size_t colour, runs;
        bool shown;
    };
    [[nodiscard]] std::vector<Entry> entries() const; // of the legend, shown or not
    // For a plot of `pixels` columns. Smoothed values are kept until the smoothing changes.
    [[nodiscard]] CurvePicture picture(CurveMetric metric, int pixels) const;

private:
    struct Held {
        CurveRun run;
        std::size_t colour;
        struct Smoothed {
            Smoother smoother = Smoother(0);
            std::vector<float> values;
        };
        mutable std::array<Smoothed, kCurveMetrics> smoothed; // as far as somebody looked
    };
    struct Group {
        Entry entry;
        std::vector<const Held*> runs;
    };
    // Null where it is not held.
    template <typename Runs>
    static auto* find(Runs& runs, const std::string& id)
    {
        const auto held = std::ranges::find(runs, id, [](const Held& one) -> const std::string& { return one.run.id; });
        return held == runs.end() ? nullptr : &*held;
    }
    [[nodiscard]] std::vector<Group> grouped_runs() const;
    [[nodiscard]] const std::vector<double>& places(const CurveRun& run) const;
    [[nodiscard]] const std::vector<float>& values(const Held& held, CurveMetric metric) const;
    [[nodiscard]] CurveRange range_of(const std::vector<Group>& groups) const;
    void add_band(CurveLine& line, const Group& group, CurveMetric metric, const CurveRange& range, int pixels) const;

    std::vector<Held> runs_; // in the order in which they came
    std::set<std::string> hidden_;
    CurveAxis axis_ = CurveAxis::step;
    CurveGroups groups_ = CurveGroups::none;
    double smoothing_ = 0;
    std::optional<CurveRange> range_;
};

} // namespace fourfold::view
