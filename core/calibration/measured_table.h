// SPDX-License-Identifier: GPL-3.0-or-later
// A table of measurements (CSV, columns as in presets/published/README.md), read into plans that predict() takes.
//
//   auto sources = TableSources::find();
//   auto table = read_measured_table("llama31_8b_4d_a100_h100.csv", *sources, Presets());
//   for (const MeasuredRow& row : table->rows)
//       if (row.ran()) compare(*predict(row.plan).tps_per_gpu, *row.tps_per_gpu);
#pragma once

#include "core/calibration/sources.h"
#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// `invalid`: cannot be placed; `not_run`: the source left the cell blank. Both are counted and never scored.
enum class CellStatus { ok, oom, fail, hang, invalid, not_run };
template <>
inline constexpr auto kWords<CellStatus> = std::to_array<std::string_view>(
    {"ok", "oom", "fail", "hang", "invalid", "not_run"});

struct MeasuredRow {
    std::string source, table, row; // identity, as printed
    int line = 0; // of the file
    CellStatus status = CellStatus::ok;
    std::string metric; // what `value` is: tps_per_gpu, tflops_per_gpu, step_time_s, mfu; empty for a crash
    std::string anomaly, notes;
    // The anomaly takes the row out of the headline figures (they are also told with it).
    bool excluded = false;
    // Belongs to the rows that the source's `core` names (all, where it names none): by its layout; by its layout and,
    // where it ran, its utilisation.
    bool in_core_layout = true, in_core = true;
    // Stand-ins that the plan took because the source does not say, "seq_len=8192".
    std::vector<std::string> assumed;
    // The source neither prints nor otherwise tells what recomputed: memory without recomputation is an upper bound.
    bool recompute_untold = false;

    // Every field of the layout that the source ran; its stack carries the preset's constants. Empty (gpus 0) for
    // cells that are `invalid` or `not_run`.
    ResolvedPlan plan;

    // Measured figures of a row that ran (`ok`). Throughput in one unit for all sources: from the printed step time
    // where there is one (no FLOP convention in between), else from the printed metric.
    std::optional<double> tps_per_gpu, step_time_s;
    std::optional<double> memory_gib; // in the stack's convention

    [[nodiscard]] bool ran() const { return status == CellStatus::ok; }
    [[nodiscard]] bool crashed() const
    {
        return status == CellStatus::oom || status == CellStatus::fail || status == CellStatus::hang;
    }
};

struct MeasuredTable {
    std::string file; // as opened
    std::string name; // file name without folder and ".csv": names fold sets and bounds
    std::string sha256; // of the text: a fold set says which rows it was fitted on
    std::vector<MeasuredRow> rows; // good rows, in the order of the file
    std::vector<Problem> problems; // one for each bad cell: "file:line: column: found ..., expected ..."
    std::vector<std::string> remarks; // columns that nothing reads, releases that are not known or became slower
    int lines = 0; // data rows in the file, good and bad
};

// Whether a GPU can have reached that, in any unit but a mistaken one. What a preset says of a CPU is no limit.
bool is_possible_speed(const ResolvedPlan& plan, double tps_per_gpu);

// Fails only where nothing can be read: no file, no header, a column missing that every row needs. A row with
// a bad cell is told in `problems` and left out; the rest is read.
Expected<MeasuredTable> read_measured_table(
    const std::filesystem::path& file, const TableSources& sources, const Presets& presets);
Expected<MeasuredTable> parse_measured_table(
    std::string_view text, const std::string& file, const TableSources& sources, const Presets& presets);

} // namespace fourfold
