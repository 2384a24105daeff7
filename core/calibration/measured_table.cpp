// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/measured_table.h"
#include "core/base/input_file.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/calibration/csv.h"
#include "core/calibration/releases.h"
#include "core/calibration/row_plan.h"
#include "core/model/flops.h"

#include <algorithm>

namespace fourfold {

namespace {
std::optional<CellStatus> status_of(RowCells& cells)
{
    const std::string text = cells.text("status"), known = joined(spellings<CellStatus>(), ", ");
    const auto status = from_text<CellStatus>(text, "");
    if (status)
        return *status;
    if (text.empty())
        cells.missing("status", known);
    else
        cells.problem("status", "found " + in_quotes(text) + ", expected " + known);
    return std::nullopt;
}

// Throughput of a row in tokens per second and GPU, from what it prints.
std::optional<double> throughput_of(RowCells& cells, const MeasuredRow& row)
{
    const ResolvedPlan& plan = row.plan;
    const auto from_step = [&](double seconds) { return plan.tokens_per_step() / (seconds * plan.gpus); };
    const auto value = cells.positive("value");
    if (const auto step = cells.positive("step_time_s")) {
        constexpr double kOtherUnit = 100; // no rounding, and no step that stands out
        const double ratio = row.metric == "tps_per_gpu" && value ? from_step(*step) / *value : 1;
        if (ratio > kOtherUnit || ratio < 1 / kOtherUnit)
            cells.problem("step_time_s",
                text_of("found %s, which is %.4g tokens/s per GPU, and value says %.4g; expected seconds",
                    cells.text("step_time_s").c_str(), from_step(*step), *value),
                "are they in milliseconds, or tokens of all GPUs?");
        return from_step(*step);
    }
    if (!value) {
        if (!cells.has("value"))
            cells.missing("value", "a number above 0, or a step_time_s, where status is ok");
        return std::nullopt;
    }
    if (row.metric == "tps_per_gpu")
        return value;
    if (row.metric == "step_time_s")
        return from_step(*value);
    const int64_t seq_len = plan.training.seq_len;
    if (row.metric == "tflops_per_gpu")
        return *value * 1e12
            / reported_flops_per_token(plan.model, plan.padded_vocab, seq_len, plan.training.flop_convention);
    if (row.metric == "mfu")
        return *value * plan.cluster.gpu.peak_flops(plan.training.precision)
            / model_flops_per_token(plan.model, seq_len);
    cells.problem("metric",
        (row.metric.empty() ? "empty" : "found " + in_quotes(row.metric))
            + ", expected tps_per_gpu, tflops_per_gpu, step_time_s or mfu");
    return std::nullopt;
}

constexpr double kMost = 2, kLeast = 1e-6; // of the peak, which may be that of another precision than the source's

double share_of_peak(const ResolvedPlan& plan, double tps_per_gpu)
{
    return tps_per_gpu * model_flops_per_token(plan.model, plan.training.seq_len)
        / plan.cluster.gpu.peak_flops(plan.training.precision);
}

// Units are mistaken easily: percents for shares, the tokens of all GPUs for those of one, milliseconds for seconds.
void check_possible(RowCells& cells, const MeasuredRow& row)
{
    const double share = share_of_peak(row.plan, *row.tps_per_gpu);
    const std::string column = cells.has("step_time_s") ? "step_time_s" : "value";
    if (row.metric == "mfu" && column == "value" && share > 1)
        cells.problem(
            column, "found " + cells.text(column) + ", expected a share of the peak, at most 1 (50 % is 0.5)");
    else if (share > kMost || share < kLeast)
        cells.problem(column,
            "found " + cells.text(column) + ", which is " + (share > kMost ? "more than twice" : "under a millionth of")
                + " what the GPUs can compute; expected " + (column == "value" ? row.metric : "seconds")
                + " (is it in another unit, or of all GPUs?)");
}

class TableReader {
public:
    TableReader(const std::string& file, const TableSources& sources, const Presets& presets)
        : sources_(sources)
        , presets_(presets)
    {
        table_.file = file;
        table_.name = std::filesystem::path(file).stem().string();
    }

    Expected<MeasuredTable> read(std::string_view text)
    {
        table_.sha256 = sha256_hex(text);
        FOURFOLD_TRY(const auto records, read_csv(text, table_.file));
        if (records.empty())
            return Problem{ProblemCode::bad_input, "the file is empty, expected a header and rows of measurements", "",
                table_.file};
        FOURFOLD_CHECK(check_header(records.front()));
        constexpr std::size_t kMostRows = 10'000; // each is a plan to predict, often many times
        if (records.size() - 1 > kMostRows)
            return Problem{ProblemCode::bad_input,
                "has " + std::to_string(records.size() - 1) + " rows, expected at most " + std::to_string(kMostRows),
                "use a part of them", table_.file};
        for (auto record = records.begin() + 1; record != records.end(); ++record) {
            ++table_.lines;
            read_row(records.front(), *record);
        }
        for (const auto& lines : {unknown_releases(table_.rows), slower_releases(table_.rows)})
            table_.remarks.insert(table_.remarks.end(), lines.begin(), lines.end());
        return std::move(table_);
    }

private:
    Expected<void> check_header(const CsvRecord& header)
    {
        const std::string where = table_.file + ":" + std::to_string(header.line);
        std::set<std::string> columns;
        for (const std::string& column : header.fields) {
            if (!columns.insert(column).second && !column.empty())
                return Problem{
                    ProblemCode::bad_input, "column " + in_quotes(column) + " stands there twice", "", where};
        }
        std::vector<std::string> missing;
        for (const std::string& column : required_columns()) {
            if (!columns.contains(column))
                missing.push_back(column);
        }
        if (!missing.empty())
            return Problem{ProblemCode::bad_input,
                std::string(missing.size() == 1 ? "missing column " : "missing columns ") + joined(missing, ", "),
                "the columns are described in presets/published/README.md", where};
        for (const std::string& column : header.fields) {
            if (!column.empty() && !is_known_column(column))
                table_.remarks.push_back(where + ": column " + in_quotes(column) + " is not read");
        }
        return {};
    }

    void read_row(const CsvRecord& header, const CsvRecord& record)
    {
        const std::string where = table_.file + ":" + std::to_string(record.line);
        if (record.fields.size() != header.fields.size()) {
            table_.problems.push_back({ProblemCode::bad_input,
                "the row has " + std::to_string(record.fields.size()) + " fields, expected "
                    + std::to_string(header.fields.size()) + " as in the header",
                "a text with commas needs quotes", where});
            return;
        }
        std::map<std::string, std::string> printed;
        for (std::size_t i = 0; i < header.fields.size(); ++i)
            printed[header.fields[i]] = record.fields[i];
        RowCells cells(std::move(printed), where);
        if (auto row = read_cells(cells, record.line))
            table_.rows.push_back(*std::move(row));
        table_.problems.insert(table_.problems.end(), cells.problems().begin(), cells.problems().end());
    }

    std::optional<MeasuredRow> read_cells(RowCells& cells, int line)
    {
        MeasuredRow row;
        row.line = line;
        row.source = cells.text("source");
        row.table = cells.text("table");
        row.row = cells.text("row");
        row.metric = cells.text("metric");
        row.anomaly = cells.text("anomaly");
        row.notes = cells.text("notes");
        row.plan.gpus = 0;
        const TableSource* source = sources_.source(row.source);
        row.excluded = !row.anomaly.empty() && (source == nullptr || !source->accepted_anomalies.contains(row.anomaly));
        const auto status = status_of(cells);
        if (!status)
            return std::nullopt;
        row.status = *status;
        if (*status == CellStatus::invalid || *status == CellStatus::not_run)
            return row;
        cells.take_assumed();
        if (source != nullptr)
            cells.take_stand_ins(*source);
        auto plan = plan_of_row(cells, source, presets_);
        if (!plan)
            return std::nullopt;
        row.plan = *std::move(plan);
        row.assumed = cells.assumed();
        row.recompute_untold = source != nullptr && cells.recompute_untold(*source);
        read_measurement(cells, row);
        if (source != nullptr && source->core) {
            row.in_core_layout = row.plan.layout.tp <= source->core->tp_at_most;
            row.in_core = row.in_core_layout && is_used_well(row, source->core->mfu_at_least);
        }
        return cells.problems().empty() ? std::optional(std::move(row)) : std::nullopt;
    }

    static bool is_used_well(const MeasuredRow& row, double least_mfu)
    {
        const ResolvedPlan& plan = row.plan;
        const double peak = plan.cluster.gpu.peak_flops(plan.training.precision);
        const double flops = row.tps_per_gpu.value_or(0) * model_flops_per_token(plan.model, plan.training.seq_len);
        return !row.ran() || flops >= least_mfu * peak;
    }

    static void read_measurement(RowCells& cells, MeasuredRow& row)
    {
        if (row.crashed()) {
            if (cells.has("value") || cells.has("step_time_s"))
                cells.problem(
                    "status", "found " + in_quotes(name(row.status)) + " beside a measured value, expected ok");
            return;
        }
        row.tps_per_gpu = throughput_of(cells, row);
        row.memory_gib = cells.positive("memory_gib");
        if (row.tps_per_gpu) {
            row.step_time_s = row.plan.tokens_per_step() / (*row.tps_per_gpu * row.plan.gpus);
            check_possible(cells, row);
        }
    }

    const TableSources& sources_;
    const Presets& presets_;
    MeasuredTable table_;
};

} // namespace

bool is_possible_speed(const ResolvedPlan& plan, double tps_per_gpu)
{
    const double share = share_of_peak(plan, tps_per_gpu);
    return share >= kLeast && (share <= kMost || plan.cluster.gpu.is_cpu());
}

Expected<MeasuredTable> parse_measured_table(
    std::string_view text, const std::string& file, const TableSources& sources, const Presets& presets)
{
    return TableReader(file, sources, presets).read(text);
}

Expected<MeasuredTable> read_measured_table(
    const std::filesystem::path& file, const TableSources& sources, const Presets& presets)
{
    FOURFOLD_TRY(const std::string text, read_input(file));
    return parse_measured_table(text, file.string(), sources, presets);
}

} // namespace fourfold
