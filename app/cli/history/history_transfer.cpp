// SPDX-License-Identifier: GPL-3.0-or-later
// Runs out of the history and into it.
#include "app/cli/history/history_import.h"
#include "app/cli/history/history_view.h"
#include "app/cli/output_file.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/calibration/row_cells.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/transfer.h"
#include "runner/protocol/message.h"

#include <algorithm>
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

enum class Source { exported, table, log };

// By its name, and where that says nothing (a pipe has none) by how it begins.
Source source_of(const std::string& file, std::string_view text)
{
    const std::string extension = lower_case(std::filesystem::path(file).extension().string());
    if (extension == ".csv" || extension == ".json")
        return extension == ".csv" ? Source::table : Source::exported;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF", kSpace = " \t\r\n";
    if (text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    const std::size_t next = text.find_first_not_of(kSpace, 1);
    // Lines of logs begin with brackets, too.
    if (text.starts_with('{')
        || (text.starts_with('[') && next != text.npos && (text[next] == '{' || text[next] == ']')))
        return Source::exported;
    const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
    const auto names = [first](const std::string& column) { return first.find(column) != first.npos; };
    const auto& columns = required_columns();
    return std::all_of(columns.begin(), columns.end(), names) ? Source::table : Source::log;
}

struct ReadRuns {
    Source source;
    std::vector<Json> runs;
};

// An exported JSON document, a published table, or a log of another trainer.
Expected<ReadRuns> read_runs(const std::string& file, const PlanOptions& plan)
{
    // Runs of many steps make large documents.
    FOURFOLD_TRY(const std::string text, read_input(file, std::size_t{1} << 30));
    ReadRuns read{source_of(file, text), {}};
    if (read.source == Source::table) {
        std::vector<std::string> remarks;
        auto runs = runs_of_table(text, file, remarks);
        for (const std::string& remark : remarks)
            warn(remark);
        FOURFOLD_TRY(read.runs, std::move(runs));
    } else if (read.source == Source::log) {
        FOURFOLD_TRY(read.runs, runs_of_log(text, file, plan));
    } else {
        FOURFOLD_TRY(const Json document, parse_json(text, file));
        read.runs = document.is_array() ? document.get<std::vector<Json>>() : std::vector<Json>{document};
    }
    return read;
}

// A log says nothing of the plan: with another one it is another run, and has the same id.
bool same_plan(const HistoryStore& store, const Json& run)
{
    const auto stored = store.export_run(text_field(run, "id"));
    return stored && text_field(*stored, "plan_hash") == text_field(run, "plan_hash");
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
    FOURFOLD_TRY(const ReadRuns read, read_runs(file, plan));
    const std::vector<Json>& runs = read.runs;
    FOURFOLD_TRY(auto store, HistoryStore::open(HistoryStore::default_file()));
    Json taken = Json::array();
    std::vector<std::string> names;
    std::vector<std::string> known;
    Expected<void> result;
    for (std::size_t i = 0; i < runs.size() && result; ++i) {
        const Json& run = runs[i];
        auto id = import_run(store, run);
        if (id) {
            taken.push_back(*id);
            names.push_back(text_field(run, "name"));
        } else if (id.error().code == ProblemCode::conflict && text_field(run, "target") == "imported") {
            const std::string taken_as = text_field(run, "id");
            if (read.source == Source::log && !same_plan(store, run))
                warn(file + ": the history has this log with another plan, which stays (to take this one: "
                    + "`fourfold history delete " + taken_as + "`, `fourfold history purge`, import again)");
            else if (same_figures(store, run))
                known.push_back(taken_as);
            else
                warn(file + ": " + other_figures(run));
        } else if (id.error().code == ProblemCode::conflict && holds(store, run)) {
            known.push_back(text_field(run, "id"));
        } else {
            Problem problem = std::move(id).error();
            if (problem.code != ProblemCode::io && problem.code != ProblemCode::refused) // those are the history's
                problem.where = file + (runs.size() > 1 ? ": [" + std::to_string(i) + "]" : "") + ": " + problem.where;
            result = std::move(problem);
        }
    }
    // What was taken before a bad run stays and is named.
    if (json)
        print_json({{"imported", taken}, {"known", known.size()}});
    else
        for (std::size_t i = 0; i < taken.size(); ++i)
            std::cout << "imported " << taken[i].get<std::string>() << "  " << printable(names[i]) << "\n";
    if (runs.empty())
        warn(file + ": holds no runs");
    if (!known.empty()) {
        FOURFOLD_TRY(const auto deleted, store.list(std::numeric_limits<int>::max(), Runs::deleted));
        const auto hidden = std::count_if(deleted.begin(), deleted.end(), [&](const RunSummary& summary) {
            return std::find(known.begin(), known.end(), summary.id) != known.end();
        });
        warn(file + ": " + std::to_string(known.size()) + (known.size() == 1 ? " run is" : " runs are")
            + " in the history already"
            + (hidden > 0 ? ", " + std::to_string(hidden) + " of them deleted (`fourfold history restore` brings back)"
                          : ""));
    }
    return result ? kDone : fail(result.error());
}

} // namespace fourfold::cli
