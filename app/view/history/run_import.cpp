// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/run_import.h"

#include "app/view/history/history_access.h"
#include "app/view/runs/run_folder.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/calibration/user/table_runs.h"
#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold::view {

namespace {
// Whether the history has all that the document says of its run: the same plan, and at least its events.
bool holds(const HistoryStore& store, const Json& run)
{
    const auto stored = store.export_run(text_field(run, "id"));
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
    if (lower_case(path.extension().string()) == ".csv")
        return runs_of_table(path, remarks);
    FOURFOLD_TRY(const std::string text, read_text_file(path, kLargestImport));
    return runs_of_document(text, path.string());
}

std::string RunImport::said() const
{
    std::string text = counted(double(added.size()), "run") + " added";
    if (!known.empty())
        text += ", " + grouped(double(known.size())) + " there already";
    if (!remarks.empty())
        text += ", " + grouped(double(remarks.size())) + " left out";
    return text;
}

std::string RunImport::only() const
{
    if (added.size() + known.size() != 1)
        return {};
    return added.empty() ? known.front().id : added.front().id;
}

RunImport import_runs(HistoryStore& store, const std::vector<Json>& runs, const std::string& where)
{
    RunImport import;
    for (std::size_t i = 0; i < runs.size() && !import.problem; ++i) {
        const Json& run = runs[i];
        auto id = store.import_run(run);
        if (id) {
            import.added.push_back({*id, text_field(run, "name")});
            continue;
        }
        Problem problem = std::move(id).error();
        const bool is_known = problem.code == ProblemCode::conflict;
        const bool is_measured = is_known && text_field(run, "target") == "imported"; // of a table or a log
        if (is_known && (is_measured ? same_figures(store, run) : holds(store, run))) {
            import.known.push_back({text_field(run, "id"), text_field(run, "name")});
        } else if (is_measured) {
            import.remarks.push_back(where + ": " + other_figures(run));
        } else {
            if (problem.code != ProblemCode::io && problem.code != ProblemCode::refused) // those are the history's
                problem.where = where + (runs.size() > 1 ? ": [" + std::to_string(i) + "]" : "") + ": " + problem.where;
            import.problem = std::move(problem);
        }
    }
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
