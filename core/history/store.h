// SPDX-License-Identifier: GPL-3.0-or-later
// The history: plans, predictions, runs, steps, hosts and software versions in one SQLite file (WAL, foreign keys).
// One writer at a time (a second writer waits up to 5 s); any number of readers. Thread-compatible: one Store a thread.
#pragma once

#include "core/base/json.h"
#include "core/history/run_event.h"
#include "core/history/run_state.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// What is known when a run is created; written before anything is started.
struct NewRun {
    std::string id; // ULID
    std::string name; // the plan's
    std::string target; // target id or file
    std::string stack; // "fourfold" for the bundled trainer; imported runs keep theirs
    std::string plan_hash, layout_hash;
    Json plan; // resolved, inlined
    Json prediction; // contract object for the stack that runs
    std::optional<Json> planned_prediction; // for the plan's own stack, when that is another one
    std::vector<std::string> hosts;
    Json environment; // variables that reach every rank
    std::string note; // a person's, or what a restart says of the run before it
};

// The part of a run's traced step that is furthest from its prediction: seconds that an average stage spends in it.
struct MostOff {
    std::string term; // "backward", "waiting"
    double predicted_s = 0, measured_s = 0;
    [[nodiscard]] double difference_s() const { return measured_s - predicted_s; }
};

struct RunSummary {
    std::string id, name, target, stack;
    RunState state = RunState::draft;
    std::string created; // ISO 8601 UTC
    std::string model, cluster, layout; // for lists: "Llama 3.1 8B", "TSUBAME4", "tp2 cp1 pp1 dp8 mb1"
    int gpus = 0;
    int steps = 0; // steps received
    std::optional<double> predicted_tps_per_gpu, measured_tps_per_gpu; // measured: median after warm-up or read_at
    std::optional<double> predicted_step_time_s, measured_step_time_s;
    std::optional<double> predicted_memory_gib, measured_memory_gib;
    std::optional<double> tps_error; // predicted / measured - 1
    std::optional<double> first_loss, last_loss, eval_loss;
    std::string problem; // why it failed, one line; empty if it did not
    std::optional<MostOff> most_off; // empty without a trace, and before the trace was compared
    bool most_off_due = false; // has a trace that was not compared with the prediction yet
    // A person's own words about it.
    std::vector<std::string> tags; // sorted, each once
    std::string note;
};

struct StepRow : StepValues {
    int step = 0;
    double time_s = 0; // since the run's first step event
};

struct RunDetail {
    RunSummary summary;
    Json plan, prediction;
    std::optional<Json> planned_prediction;
    std::vector<std::string> hosts;
    Json environment, versions; // versions: from the `start` event (software, hardware, clocks)
    std::vector<StepRow> steps;
    std::vector<Json> other_events; // every event that is not `step`
    std::string headline_rule; // how measured_tps_per_gpu was taken: "median of steps 11..50", "step 90"
    std::optional<double> tps_spread; // (p90 - p10) / median over the headline's window
    // Of a run on GPUs, largest over ranks: of tensors, and what the caching allocator took for them. That of the two
    // that predictions are compared with is measured_memory_gib.
    std::optional<double> allocated_gib, reserved_gib;
    [[nodiscard]] bool ran_on_cpus() const; // its ranks said so, whatever the plan is for
};

// An event line and what it says; both belong to the caller.
struct ParsedLine {
    std::string_view text; // without the newline
    const Json* json = nullptr;
};

enum class StoreMode { read_write, read_only };
enum class Runs { stored, deleted }; // deleted: hidden, until they are restored or purged

class HistoryStore {
public:
    // Opens or creates `file` and migrates it to this program's schema (a copy is kept beside it before a migration).
    // A file of a newer schema opens read-only or fails with `unsupported`; a damaged one fails with `io` and a hint.
    static Expected<HistoryStore> open(const std::filesystem::path& file, StoreMode mode = StoreMode::read_write);
    // The history for reading, migrated first where an older program wrote it; nothing where no run was ever stored.
    static Expected<std::optional<HistoryStore>> open_existing(const std::filesystem::path& file);
    static std::filesystem::path default_file(); // data_folder() / "history.db"
    HistoryStore(HistoryStore&&) noexcept;
    HistoryStore& operator=(HistoryStore&&) noexcept;
    ~HistoryStore();

    Expected<void> create_run(const NewRun& run);
    Expected<void> set_state(const std::string& run, RunState state, const std::string& problem = {});
    // Appends whole event lines (each one JSON object with "seq") of the run's stream in ONE transaction together with
    // the cursor. Lines whose seq is already stored are skipped; a gap in seq is a `conflict` Problem and stores
    // nothing. `stream` is "events" for the run's own stream, "node1" ... for further nodes' agents.
    Expected<void> append_events(
        const std::string& run, const std::string& stream, const std::vector<std::string>& lines);
    // The same for a caller that has parsed the lines.
    Expected<void> append_parsed(
        const std::string& run, const std::string& stream, const std::vector<ParsedLine>& lines);
    // seq of the last stored event of a stream, -1 when there is none.
    Expected<int64_t> last_seq(const std::string& run, const std::string& stream) const;

    // Newest first.
    Expected<std::vector<RunSummary>> list(int limit = 1000, Runs which = Runs::stored) const;
    // `id` may be any unique prefix of a run id or "last".
    Expected<RunDetail> show(const std::string& id) const;
    Expected<std::string> full_id(const std::string& id_or_prefix) const;
    // The stored event lines of a stream, in order, as they were received.
    Expected<std::vector<std::string>> events(const std::string& run, const std::string& stream = "events") const;
    // Plans of stored runs of a stack and a model (by name) that ended with a measured speed and not out of memory,
    // with the mean of what their runs reached, the latest first; and one of them as it was resolved for its runs.
    struct MeasuredPlan {
        int64_t id = 0;
        double tps_per_gpu = 0;
        bool on_cpus = false; // its ranks said that they ran there, whatever the plan is for
    };
    Expected<std::vector<MeasuredPlan>> measured_plans(
        const std::string& stack, const std::string& model, int limit) const;
    Expected<Json> plan(int64_t id) const;

    struct Impl;
    [[nodiscard]] Impl& impl() const; // for the other files of this folder

private:
    explicit HistoryStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace fourfold
