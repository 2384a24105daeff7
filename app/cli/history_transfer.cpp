// SPDX-License-Identifier: GPL-3.0-or-later
// Runs out of the history and into it.
#include "app/cli/history_view.h"

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
        FOURFOLD_TRY(runs, store->list(std::numeric_limits<int>::max()));
    }
    for (const std::string& id : ids) {
        FOURFOLD_TRY(RunDetail detail, store->show(id));
        runs.push_back(std::move(detail.summary));
    }
    if (format != TableFormat::json)
        return runs_table(runs).write(format);
    Json list = Json::array();
    for (const RunSummary& run : runs) {
        FOURFOLD_TRY(Json document, store->export_run(run.id));
        list.push_back(std::move(document));
    }
    return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

int export_runs(TableFormat format, const std::vector<std::string>& ids, const std::string& output)
{
    const auto text = exported(format, ids);
    if (!text)
        return fail(text.error());
    if (output.empty()) {
        std::cout << *text;
        return kDone;
    }
    const auto written = write_file_atomically(output, *text);
    return written ? kDone : fail(written.error());
}

int import_runs(const std::string& file, bool json)
{
    // Runs of many steps make large documents.
    const auto document = read_json_file(file, std::size_t{1} << 30);
    if (!document)
        return fail(document.error());
    std::vector<const Json*> runs;
    if (document->is_array())
        for (const Json& run : *document)
            runs.push_back(&run);
    else
        runs.push_back(&*document);
    auto store = HistoryStore::open(HistoryStore::default_file());
    if (!store)
        return fail(store.error());
    Json taken = Json::array();
    Expected<void> result;
    for (std::size_t i = 0; i < runs.size() && result; ++i) {
        auto id = store->import_run(*runs[i]);
        if (id) {
            taken.push_back(*id);
        } else {
            Problem problem = std::move(id).error();
            problem.where = file + (document->is_array() ? ": [" + std::to_string(i) + "]" : "") + ": " + problem.where;
            result = std::move(problem);
        }
    }
    // What was taken before a bad run stays and is named.
    if (json)
        print_json({{"imported", taken}});
    else
        for (const Json& id : taken)
            std::cout << "imported " << id.get<std::string>() << "\n";
    return result ? kDone : fail(result.error());
}

} // namespace fourfold::cli
