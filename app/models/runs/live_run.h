// SPDX-License-Identifier: GPL-3.0-or-later
// The run that the Runs page shows, as view state: figures, lines of the charts and the log, fed by a RunController.
#pragma once

#include "app/models/runs/run_controller.h"
#include "app/models/runs/run_failure.h"
#include "app/models/runs/run_log_model.h"
#include "app/models/runs/series_buffer.h"
#include "app/models/shared/background.h"
#include "core/schedule/timeline.h"

#include <QMap>
#include <QObject>

#include <deque>
#include <optional>

namespace fourfold::ui {

// What was predicted for the stack that runs; empty where unknown.
struct RunExpectation {
    std::optional<double> tps_per_gpu, step_time_s, memory_gib, mfu; // mfu: of 1
};

// A figure over the ranks of a run, step by step: the least, the median and the greatest, and who has the worst.
struct RankSpread {
    SeriesBuffer least, median, greatest;
    int worstRank = -1; // of the newest step; -1 = not told

    void clear();
};

// The line to the nodes, while it is not as it should be.
struct LinkTrouble {
    LinkState state = LinkState::connected;
    QString host;
    QDateTime since;
};

class LiveRun : public QObject {
    Q_OBJECT
public:
    // Follows `controller`, which outlives this.
    explicit LiveRun(RunController& controller, QObject* parent = nullptr);

    // Before start(): what the run is about to do.
    void expect(const RunExpectation& expectation, int steps, const QString& title);

    [[nodiscard]] QString id() const { return m_id; }
    [[nodiscard]] QString title() const { return m_title; }
    [[nodiscard]] RunState state() const { return m_state; }
    [[nodiscard]] QString stateText() const { return m_stateText; } // what it is doing, or why it ended
    [[nodiscard]] bool hasRun() const { return m_hasRun; } // false before the first start
    [[nodiscard]] const RunExpectation& expectation() const { return m_expectation; }
    [[nodiscard]] int totalSteps() const { return m_totalSteps; }
    [[nodiscard]] int step() const { return m_step; } // last step received, counted from 1; 0 = none yet
    [[nodiscard]] const SeriesBuffer& throughput() const { return m_throughput; } // tokens/s per GPU over steps
    [[nodiscard]] const SeriesBuffer& loss() const { return m_loss; }
    [[nodiscard]] const SeriesBuffer& evalLoss() const { return m_evalLoss; }
    [[nodiscard]] const SeriesBuffer& mfu() const { return m_mfu; } // per cent of the dense peak
    [[nodiscard]] const SeriesBuffer& memory() const { return m_memory; } // peak GiB, largest over ranks
    // Over ranks, where the trainer tells: peak memory in GiB (worst: the most), tokens/s per GPU by each rank's own
    // clock and the MFU at it, in per cent (worst: the slowest).
    [[nodiscard]] const RankSpread& memoryOverRanks() const { return m_rankMemory; }
    [[nodiscard]] const RankSpread& throughputOverRanks() const { return m_rankThroughput; }
    [[nodiscard]] const RankSpread& mfuOverRanks() const { return m_rankMfu; }
    // "rank 3 on node-b"; empty for -1.
    [[nodiscard]] QString rankName(int rank) const;
    [[nodiscard]] std::optional<double> stepTime() const { return m_stepTime; }
    // Of a run that goes on, by its last steps.
    [[nodiscard]] std::optional<double> secondsLeft() const;
    // The headline, once the run ended: median after warm-up, as the history stores it.
    [[nodiscard]] std::optional<double> measuredThroughput() const { return m_measured; }
    [[nodiscard]] QString folder() const { return m_folder; } // of the run on this computer; empty before it is made
    [[nodiscard]] const std::optional<RunFailure>& failure() const { return m_failure; }
    [[nodiscard]] const std::optional<LinkTrouble>& linkTrouble() const { return m_trouble; }
    // The newest measured step, and the same step as predicted (it comes a moment later); empty before the trainer sent
    // one.
    [[nodiscard]] const std::optional<Timeline>& trace() const { return m_trace; }
    [[nodiscard]] const std::optional<Timeline>& predictedTrace() const { return m_predictedTrace; }
    [[nodiscard]] int traceStep() const { return m_traceStep; }
    [[nodiscard]] RunLogModel& log() { return m_log; }

signals:
    void changed(); // figures or state; at most ten times a second
    void pointsArrived(); // the charts have something new
    void traceArrived();
    void linkChanged(); // linkTrouble()
    void ended(const QString& runId); // the run is over and in the history; empty id: none was started

private:
    void begin();
    void readPrediction(const QString& folder);
    void readPlan(const QString& folder);
    void take(const Json& event);
    void takeStep(const Json& event);
    void takeTrace(const Json& event);
    void predictTrace();
    void takeError(const Json& event, const QDateTime& time);
    void takeStart(const Json& event);
    void takeRanks(const Json& event, double step);
    void changeLink(LinkState state, const QString& host);
    void changeState(RunState state, const QString& what);
    void end(const Expected<RunResult>& outcome);

    QString m_id, m_title, m_stateText, m_folder;
    RunState m_state = RunState::draft;
    bool m_hasRun = false;
    RunExpectation m_expectation;
    int m_totalSteps = 0, m_step = 0;
    RankSpread m_rankMemory, m_rankThroughput, m_rankMfu;
    QMap<int, QString> m_hosts; // of the ranks
    SeriesBuffer m_throughput, m_loss, m_evalLoss, m_memory, m_mfu;
    std::optional<double> m_stepTime, m_measured;
    std::deque<double> m_lately; // seconds of the last steps
    std::optional<RunFailure> m_failure;
    std::optional<LinkTrouble> m_trouble;
    std::optional<Timeline> m_trace, m_predictedTrace;
    int m_traceStep = 0;
    RunLogModel m_log;
    Background m_prediction; // of the traced step: the plan is read, resolved and simulated
};

// "Running", "Out of memory", ... and the tone in which to show it.
QString stateLabel(RunState state);
view::Tone stateTone(RunState state);

} // namespace fourfold::ui
