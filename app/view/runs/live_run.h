// SPDX-License-Identifier: GPL-3.0-or-later
// A run under way as view state: its figures, the lines of its charts and its log, fed by a RunJob.
#pragma once

#include "app/view/answer.h"
#include "app/view/runs/run_job.h"
#include "core/history/store.h"
#include "core/schedule/timeline.h"

#include <array>
#include <deque>
#include <map>

namespace fourfold::view {

// A line of a live chart in bounded memory: values come for ever, the points to draw stay few. Extremes survive.
class Series {
public:
    using Point = std::pair<double, double>;
    // Keeps at most `most` points (at least 4). Beyond that, neighbours merge to their minimum and maximum.
    explicit Series(std::size_t most = 500)
        : most_(most)
    {
    }
    void append(double x, double y); // x must not fall
    void clear() { *this = Series(most_); }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] const Point& last() const { return last_; }
    [[nodiscard]] double first() const { return first_; } // y
    [[nodiscard]] double maximum() const { return maximum_; }
    [[nodiscard]] std::vector<Point> points() const; // by x

private:
    struct Bucket {
        Point low, high; // the values with smallest and largest y
        std::size_t values = 0;
    };
    std::size_t most_, values_per_bucket_ = 1, count_ = 0;
    std::vector<Bucket> buckets_;
    Point last_;
    double first_ = 0, maximum_ = 0;
};

// Why a run failed, as the error event of the first rank tells.
struct RunFailure {
    std::optional<int> rank;
    std::string host, mesh, message;
    std::string collective; // that the rank was in; empty when it was in none
    std::string log; // the last lines of its output
};
RunFailure failure_of(const Json& error_event);
// The first error event is the cause, the others follow from it. Empty where none is stored.
std::optional<RunFailure> failure_of(const RunDetail& run);
// "Rank 3 failed first, on node2", then place, message, last collective and the end of its output, in lines.
std::string failure_text(const RunFailure& failure);

struct LogLine {
    std::string time, kind, text; // time: "12:34:56" of the event in UTC, empty where none is told
    Tone tone = Tone::neutral;
};

class LiveRun {
public:
    // Before the first message: what the run is about to do.
    void begin(const std::string& title, int steps, const std::optional<Prediction>& expected);
    // Of every message of the job; questions are the owner's.
    void take(const RunMessage& message);

    [[nodiscard]] bool has_run() const { return has_run_; }
    [[nodiscard]] const std::string& id() const { return id_; }
    [[nodiscard]] const std::string& title() const { return title_; }
    [[nodiscard]] RunState state() const { return state_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    // State, throughput, loss, memory, progress, in the form of the answer strip.
    [[nodiscard]] std::array<Figure, 5> figures() const;
    [[nodiscard]] const Series& throughput() const { return throughput_; }
    [[nodiscard]] const Series& loss() const { return loss_; }
    [[nodiscard]] const Series& memory() const { return memory_; }
    [[nodiscard]] const std::optional<double>& expected_throughput() const { return expected_tps_; }
    [[nodiscard]] const std::optional<RunFailure>& failure() const { return failure_; }
    [[nodiscard]] const std::deque<LogLine>& log() const { return log_; }
    [[nodiscard]] const std::string& link_trouble() const { return link_trouble_; } // empty: none
    // Of a run that goes on, by its last steps.
    [[nodiscard]] std::optional<double> seconds_left() const;

private:
    void take_event(const Json& event);
    void take_step(const Json& event);
    void take_created(const RunCreated& created);
    void take_link(const RunLink& link);
    void take_end(const RunEnded& end);
    void say(Tone tone, const std::string& kind, const std::string& text, const Json& event = {});

    std::string id_, title_, state_text_, link_trouble_;
    std::filesystem::path folder_;
    RunState state_ = RunState::draft;
    bool has_run_ = false;
    int total_steps_ = 0, step_ = 0;
    std::optional<double> expected_tps_, expected_step_s_, expected_gib_, step_s_, measured_tps_;
    Series throughput_, loss_, memory_;
    std::deque<double> lately_; // seconds of the last steps
    std::optional<RunFailure> failure_;
    std::deque<LogLine> log_;
};

// How a run's state is meant.
Tone state_tone(RunState state);

} // namespace fourfold::view
