// SPDX-License-Identifier: GPL-3.0-or-later
// A run under way as view state: its figures, the lines of its charts and its log, fed by a RunJob.
#pragma once

#include "app/view/answer.h"
#include "app/view/runs/run_alert.h"
#include "app/view/runs/run_failure.h"
#include "app/view/runs/run_job.h"
#include "app/view/runs/run_setup.h"
#include "app/view/runs/series.h"
#include "core/schedule/timeline.h"

#include <array>
#include <chrono>
#include <deque>
#include <map>

namespace fourfold::view {

// A figure over the ranks of a run, step by step: the least, the median and the greatest, and who has the worst.
struct RankSpread {
    Series least, median, greatest;
    int worst_rank = -1; // of the newest step; -1 = not told
};

struct LogLine {
    std::string time; // "12:34:56", local
    std::string kind, text;
    Tone tone = Tone::neutral;
    bool operator==(const LogLine&) const = default;
};

class LiveRun {
public:
    // Before the first message: what the run is about to do. 0 steps: as the run that is followed has it.
    void begin(const std::string& title, int steps, const RunExpectation& expectation);
    // Of every message of the job, in order; questions are the owner's. A run that is created behind another one (the
    // next cell of a sweep) begins anew.
    void take(const RunMessage& message);
    void take(const Json& event);

    [[nodiscard]] bool has_run() const { return has_run_; } // false before the first begin()
    [[nodiscard]] const std::string& id() const { return id_; }
    [[nodiscard]] const std::string& title() const { return title_; }
    [[nodiscard]] RunState state() const { return state_; }
    [[nodiscard]] const std::string& state_text() const { return state_text_; } // what it is doing, or why it ended
    // Of the run on this computer; empty before it is made.
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] const RunExpectation& expectation() const { return expectation_; }
    [[nodiscard]] int total_steps() const { return total_steps_; }
    [[nodiscard]] int step() const { return step_; } // last step received, counted from 1; 0 = none yet
    // State, throughput, loss, memory, progress, in the form of the answer strip.
    [[nodiscard]] std::array<Figure, 5> figures() const;
    // Of a run that goes on, by its last steps.
    [[nodiscard]] std::optional<double> seconds_left() const;
    // The headline, once the run ended: median after warm-up, as the history stores it.
    [[nodiscard]] const std::optional<double>& measured_throughput() const { return measured_tps_; }

    // --- over steps ---
    [[nodiscard]] const Series& throughput() const { return throughput_; } // tokens/s per GPU
    [[nodiscard]] const Series& loss() const { return loss_; }
    [[nodiscard]] const Series& eval_loss() const { return eval_loss_; }
    [[nodiscard]] const Series& memory() const { return memory_; } // peak GiB, largest over ranks
    [[nodiscard]] const Series& mfu() const { return mfu_; } // per cent of the dense peak
    // Of a mixture of experts: tokens of the busiest one over the mean of its layer. And of the newest step which layer
    // that is in, and how many experts and tokens went without.
    [[nodiscard]] const Series& busiest_expert() const { return busiest_; }
    [[nodiscard]] const std::string& experts_text() const { return experts_text_; }
    // Over ranks, where the trainer tells: peak memory in GiB (worst: the most), tokens/s per GPU by each rank's own
    // clock and the MFU at it, in per cent (worst: the slowest).
    [[nodiscard]] const RankSpread& memory_over_ranks() const { return rank_memory_; }
    [[nodiscard]] const RankSpread& throughput_over_ranks() const { return rank_throughput_; }
    [[nodiscard]] const RankSpread& mfu_over_ranks() const { return rank_mfu_; }
    [[nodiscard]] std::string rank_name(int rank) const; // "rank 3 on node-b"; empty for -1

    // The newest measured step; empty before the trainer sent one.
    [[nodiscard]] const std::optional<Timeline>& trace() const { return trace_; }
    [[nodiscard]] int trace_step() const { return trace_step_; }
    [[nodiscard]] const std::optional<RunFailure>& failure() const { return failure_; }
    [[nodiscard]] const std::deque<RunAlert>& alerts() const { return alerts_; } // of its watch; the newest ones
    [[nodiscard]] std::size_t alert_count() const { return alert_count_; } // of this run
    [[nodiscard]] const std::deque<LogLine>& log() const { return log_; } // the newest lines
    [[nodiscard]] std::size_t log_count() const { return log_count_; } // lines said, also of runs before
    // What is wrong with the line to the nodes and since when; empty: nothing.
    [[nodiscard]] const std::string& link_trouble() const { return link_trouble_; }

private:
    void take_step(const Json& event);
    void take_ranks(const Json& event, double step);
    void take_experts(const Json& event, double step);
    void take_start(const Json& event);
    void take_warning(const Json& event);
    void take_trace(const Json& event);
    void take_created(const RunCreated& created);
    void take_link(const RunLink& link);
    void take_end(const RunEnded& end);
    void say(Tone tone, const std::string& kind, const std::string& text, const Json& event = {});
    // In the place of the newest line, where that is of this kind (progress of one transfer).
    void say_on(Tone tone, const std::string& kind, const std::string& text);

    std::string id_, title_, state_text_, link_trouble_, down_since_;
    std::filesystem::path folder_;
    RunState state_ = RunState::draft;
    bool has_run_ = false;
    RunExpectation expectation_;
    int total_steps_ = 0, step_ = 0, trace_step_ = 0;
    std::optional<double> step_s_, measured_tps_;
    Series throughput_, loss_, eval_loss_, memory_, mfu_, busiest_;
    std::string experts_text_;
    RankSpread rank_memory_, rank_throughput_, rank_mfu_;
    std::map<int, std::string> hosts_; // of the ranks
    std::deque<double> lately_; // seconds of the last steps
    std::optional<Timeline> trace_;
    std::optional<RunFailure> failure_;
    std::deque<RunAlert> alerts_;
    std::deque<LogLine> log_;
    std::size_t alert_count_ = 0, log_count_ = 0;
};

// How a run's state is meant.
Tone state_tone(RunState state);

} // namespace fourfold::view
