// SPDX-License-Identifier: GPL-3.0-or-later
// Runs out of the history and into it.
#include "app/cli/history/history_import.h"
#include "app/cli/history/history_view.h"
#include "app/cli/output_file.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/transfer.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <iostream>

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

// An exported JSON document, a published table, or a log of another trainer.
Expected<std::vector<Json>> read_runs(const std::string& file, const PlanOptions& plan)
{
    if (file.ends_with(".csv")) {
        std::vector<std::string> remarks;
        auto runs = runs_of_table(file, remarks);
        for (const std::string& remark : remarks)
            warn(remark);
        return runs;
    }
    // Runs of many steps make large documents.
    FOURFOLD_TRY(const std::string text, read_input(file, std::size_t{1} << 30));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = file.ends_with(".json") || (first != std::string::npos && text[first] == '{');
    if (!json)
        return runs_of_log(file, plan);
    FOURFOLD_TRY(const Json document, parse_json(text, file));
    if (!document.is_array())
        return std::vector<Json>{document};
    return document.get<std::vector<Json>>();
}

// Whether the history has all that the document says of its run: the same plan, and at least its events.
bool holds(const HistoryStore& store, const Json& run)
{
    const auto stored = export_run(store, text_field(run, "id"));
    if (!stored || object_field(*stored, "plan") != object_field(run, "plan"))
        return false;
    for (const auto& [stream, events] : object_field(run, "events").items()) {
        const Json& ours = array_field(object_field(*stored, "events"), stream.c_str());
        if (!events.is_array() || events.size() > ours.size()
            || !std::equal(events.begin(), events.end(), ours.begin()))
            return false;
    }
    return true;
}

} // namespace

Expected<int> import_runs(const std::string& file, const PlanOptions& plan, bool json)
{
    FOURFOLD_CHECK(open_history()); // where another program keeps it locked, that is all there is to wait for
    FOURFOLD_TRY(const auto runs, read_runs(file, plan));
    FOURFOLD_TRY(auto store, HistoryStore::open(HistoryStore::default_file()));
    Json taken = Json::array();
    std::vector<std::string> names;
    int known = 0;
    Expected<void> result;
    for (std::size_t i = 0; i < runs.size() && result; ++i) {
        const Json& run = runs[i];
        auto id = import_run(store, run);
        if (id) {
            taken.push_back(*id);
            names.push_back(text_field(run, "name"));
        } else if (id.error().code == ProblemCode::conflict && text_field(run, "target") == "imported") {
            if (same_figures(store, run))
                ++known;
            else
                warn(file + ": " + other_figures(run));
        } else if (id.error().code == ProblemCode::conflict && holds(store, run)) {
            ++known;
        } else {
            Problem problem = std::move(id).error();
            if (problem.code != ProblemCode::io && problem.code != ProblemCode::refused) // those are the history's
                problem.where = file + (runs.size() > 1 ? ": [" + std::to_string(i) + "]" : "") + ": " + problem.where;
            result = std::move(problem);
        }
    }
    // What was taken before a bad run stays and is named.
    if (json)
        print_json({{"imported", taken}, {"known", known}});
    else
        for (std::size_t i = 0; i < taken.size(); ++i)
            std::cout << "imported " << taken[i].get<std::string>() << "  " << printable(names[i]) << "\n";
    if (runs.empty())
        warn(file + ": holds no runs");
    if (known > 0)
        warn(file + ": " + std::to_string(known) + (known == 1 ? " run is" : " runs are") + " in the history already");
    return result ? kDone : fail(result.error());
}

} // namespace fourfold::cli
