// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/run_import.h"

#include "app/view/history/history_access.h"
#include "app/view/runs/run_folder.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/calibration/row_cells.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/transfer.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <limits>

namespace fourfold::view {

namespace {
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

// A log says nothing of the plan: with another one it is another run, and has the same id.
bool same_plan(const HistoryStore& store, const Json& run)
{
    const auto stored = export_run(store, text_field(run, "id"));
    return stored && text_field(*stored, "plan_hash") == text_field(run, "plan_hash");
}

std::size_t deleted_among(const HistoryStore& store, const std::vector<RunImport::Run>& runs)
{
    const auto deleted = store.list(std::numeric_limits<int>::max(), Runs::deleted);
    if (runs.empty() || !deleted)
        return 0;
    return std::size_t(std::count_if(deleted->begin(), deleted->end(), [&](const RunSummary& summary) {
        return std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return run.id == summary.id; });
    }));
}
} // namespace

ImportSource import_source(const std::filesystem::path& file, std::string_view text)
{
    const std::string extension = lower_case(file.extension().string());
    if (extension == ".csv" || extension == ".json")
        return extension == ".csv" ? ImportSource::table : ImportSource::exported;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF", kSpace = " \t\r\n";
    if (text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    const std::size_t next = text.find_first_not_of(kSpace, 1);
    // Lines of logs begin with brackets, too.
    if (text.starts_with('{')
        || (text.starts_with('[') && next != text.npos && (text[next] == '{' || text[next] == ']')))
        return ImportSource::exported;
    const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
    const auto names = [first](const std::string& column) { return first.find(column) != first.npos; };
    const auto& columns = required_columns();
    return std::all_of(columns.begin(), columns.end(), names) ? ImportSource::table : ImportSource::log;
}

Expected<std::vector<Json>> runs_of_document(const std::string& text, const std::string& where)
{
    FOURFOLD_TRY(Json document, parse_json(text, where));
    if (!document.is_array())
        return std::vector<Json>{std::move(document)};
    return document.get<std::vector<Json>>();
}

Expected<std::vector<Json>> runs_of(const std::filesystem::path& path, std::vector<std::string>& remarks)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        FOURFOLD_TRY(Json run, run_from_folder(path));
        return std::vector<Json>{std::move(run)};
    }
    FOURFOLD_TRY(const std::string text, read_text_file(path, kLargestImport));
    switch (import_source(path, text)) {
    case ImportSource::table:
        return runs_of_table(text, path.string(), remarks);
    case ImportSource::log:
        return Problem{ProblemCode::bad_input, "is no exported run and no measured table",
            "a log of another trainer is taken by `fourfold history import FILE --plan PLAN`, which says what was run",
            path.string()};
    case ImportSource::exported:
        break;
    }
    return runs_of_document(text, path.string());
}

std::string RunImport::said() const
{
    std::string text = counted(double(added.size()), "run") + " added";
    if (!known.empty())
        text += ", " + grouped(double(known.size())) + " there already";
    if (deleted > 0)
        text += " (" + grouped(double(deleted)) + " of them deleted)";
    if (!remarks.empty())
        text += ", " + grouped(double(remarks.size())) + " left out";
    return text;
}

std::string RunImport::only() const
{
    if (deleted > 0 || added.size() + known.size() != 1) // a deleted one is in no list
        return {};
    return added.empty() ? known.front().id : added.front().id;
}

RunImport import_runs(HistoryStore& store, const std::vector<Json>& runs, const std::string& where, ImportSource source)
{
    RunImport import;
    for (std::size_t i = 0; i < runs.size() && !import.problem; ++i) {
        const Json& run = runs[i];
        auto id = import_run(store, run);
        if (id) {
            import.added.push_back({*id, text_field(run, "name")});
            continue;
        }
        Problem problem = std::move(id).error();
        const bool is_known = problem.code == ProblemCode::conflict;
        const bool is_measured = is_known && text_field(run, "target") == "imported"; // of a table or a log
        if (is_measured && source == ImportSource::log && !same_plan(store, run)) {
            import.remarks.push_back(where + ": the history has this log with another plan, which stays (to take this "
                + "one: `fourfold history delete " + text_field(run, "id")
                + "`, `fourfold history purge`, import again)");
        } else if (is_known && (is_measured ? same_figures(store, run) : holds(store, run))) {
            import.known.push_back({text_field(run, "id"), text_field(run, "name")});
        } else if (is_measured) {
            import.remarks.push_back(where + ": " + other_figures(run));
        } else {
            if (problem.code != ProblemCode::io && problem.code != ProblemCode::refused) // those are the history's
                problem.where = where + (runs.size() > 1 ? ": [" + std::to_string(i) + "]" : "") + ": " + problem.where;
            import.problem = std::move(problem);
        }
    }
    import.deleted = deleted_among(store, import.known);
    return import;
}

RunImport import_from(const std::filesystem::path& history, const std::filesystem::path& path)
{
    std::vector<std::string> remarks;
    const auto run = [&]() -> Expected<RunImport> {
        FOURFOLD_TRY(const std::vector<Json> runs, runs_of(path, remarks));
        if (runs.empty())
            return Problem{ProblemCode::bad_input, "holds no runs", "", path.string()};
        FOURFOLD_TRY(HistoryStore store, writable_history(history));
        return import_runs(store, runs, path.string());
    };
    Expected<RunImport> outcome = run();
    RunImport import = outcome ? *std::move(outcome) : RunImport{};
    if (!outcome)
        import.problem = std::move(outcome).error();
    import.remarks.insert(import.remarks.begin(), remarks.begin(), remarks.end());
    return import;
}

} // namespace fourfold::view
