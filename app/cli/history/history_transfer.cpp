// SPDX-License-Identifier: GPL-3.0-or-later
// Runs out of the history and into it.
#include "app/cli/history/history_import.h"
#include "app/cli/history/history_view.h"
#include "app/cli/output_file.h"
#include "app/view/history/run_import.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/transfer.h"

#include <iostream>
#include <limits>

namespace fourfold::cli {

namespace {

Expected<std::string> exported(TableFormat format, const std::vector<std::string>& ids)
{
    FOURFOLD_TRY(auto store, open_history());
    if (!store && !ids.empty())
        return Problem{ProblemCode::not_found, "the history holds no run yet", "start one with `fourfold run PLAN`",
            HistoryStore::default_file().string()};
    std::vector<RunSummary> runs;
    if (ids.empty() && store) {
        FOURFOLD_TRY(runs, listed_runs(*store, std::numeric_limits<int>::max()));
    }
    for (const std::string& id : ids) {
        FOURFOLD_TRY(RunDetail detail, store->show(id));
        runs.push_back(std::move(detail.summary));
    }
    if (format != TableFormat::json)
        return runs_table(runs).write(format);
    Json list = Json::array();
    for (const RunSummary& run : runs) {
        FOURFOLD_TRY(Json document, export_run(*store, run.id));
        list.push_back(std::move(document));
    }
    return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

Expected<int> export_runs(TableFormat format, const std::vector<std::string>& ids, const std::string& output)
{
    FOURFOLD_CHECK(check_output(output, {}));
    FOURFOLD_TRY(const auto text, exported(format, ids));
    if (output.empty()) {
        std::cout << text;
        return kDone;
    }
    const auto written = write_file_atomically(output, text);
    return written ? kDone : fail(written.error());
}

Expected<int> export_to_dashboards(const DashboardOptions& options, std::vector<std::string> ids)
{
    if (ids.empty()) {
        FOURFOLD_TRY(const auto store, open_history_with_runs());
        FOURFOLD_TRY(const auto runs, store.list(std::numeric_limits<int>::max()));
        for (const RunSummary& run : runs)
            ids.push_back(run.id);
    }
    Dashboards dashboards(options);
    for (const std::string& id : ids) {
        FOURFOLD_CHECK(dashboards.begin(id));
        FOURFOLD_CHECK(dashboards.finish());
    }
    return kDone;
}

namespace {

struct ReadRuns {
    view::ImportSource source;
    std::vector<Json> runs;
};

// An exported JSON document, a published table, or a log of another trainer.
Expected<ReadRuns> read_runs(const std::string& file, const PlanOptions& plan)
{
    if (std::error_code error; std::filesystem::is_directory(file, error)) {
        std::vector<std::string> remarks;
        FOURFOLD_TRY(auto runs, view::runs_of(file, remarks));
        return ReadRuns{view::ImportSource::exported, std::move(runs)};
    }
    FOURFOLD_TRY(const std::string text, read_input(file, view::kLargestImport));
    ReadRuns read{view::import_source(file, text), {}};
    if (read.source == view::ImportSource::table) {
        std::vector<std::string> remarks;
        auto runs = runs_of_table(text, file, remarks);
        for (const std::string& remark : remarks)
            warn(remark);
        FOURFOLD_TRY(read.runs, std::move(runs));
    } else if (read.source == view::ImportSource::log) {
        FOURFOLD_TRY(read.runs, runs_of_log(text, file, plan));
    } else {
        FOURFOLD_TRY(read.runs, view::runs_of_document(text, file));
    }
    if (!plan.plan.empty() && read.source != view::ImportSource::log)
        warn("--plan is of logs: what ran is said in " + file);
    return read;
}

} // namespace

Expected<int> import_runs(const std::string& file, const PlanOptions& plan, bool json)
{
    FOURFOLD_CHECK(open_history()); // where another program keeps it locked, that is all there is to wait for
    FOURFOLD_TRY(const ReadRuns read, read_runs(file, plan));
    const std::vector<Json>& runs = read.runs;
    FOURFOLD_TRY(auto store, HistoryStore::open(HistoryStore::default_file()));
    const view::RunImport import = view::import_runs(store, runs, file, read.source);
    for (const std::string& remark : import.remarks)
        warn(remark);
    // What was taken before a bad run stays and is named.
    if (json) {
        Json taken = Json::array();
        for (const view::RunImport::Run& run : import.added)
            taken.push_back(run.id);
        print_json({{"imported", taken}, {"known", import.known.size()}});
    } else {
        for (const auto& [id, name] : import.added)
            std::cout << "imported " << id << "  " << printable(name) << "\n";
    }
    if (runs.empty())
        warn(file + ": holds no runs");
    if (const std::size_t known = import.known.size(); known > 0)
        warn(file + ": " + std::to_string(known) + (known == 1 ? " run is" : " runs are") + " in the history already"
            + (import.deleted > 0 ? ", " + std::to_string(import.deleted)
                        + " of them deleted (`fourfold history restore` brings back)"
                                  : ""));
    return import.problem ? fail(*import.problem) : kDone;
}

} // namespace fourfold::cli
