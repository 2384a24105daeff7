// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/measure.h"

#include "core/base/paths.h"
#include "core/base/random_token.h"
#include "core/history/run_event.h"
#include "core/plan/presets.h"
#include "runner/nodes/forwarding_observer.h"
#include "runner/runs/run.h"

namespace fourfold {

namespace {

// Keeps what was measured, and passes on what a person is asked or told.
class FigureKeeper final : public ForwardingObserver {
public:
    using ForwardingObserver::ForwardingObserver;
    void on_created(const std::string&, const std::filesystem::path&) override { } // no run of a person's
    void on_event(const Json& event) override
    {
        if (string_at(event, "event") == "measured")
            figures.push_back(event);
    }

    std::vector<Json> figures;
};

// Gone with its content.
struct FolderUntilEnd {
    std::filesystem::path path;
    explicit FolderUntilEnd(std::filesystem::path made)
        : path(std::move(made))
    {
    }
    FolderUntilEnd(const FolderUntilEnd&) = delete;
    FolderUntilEnd& operator=(const FolderUntilEnd&) = delete;
    ~FolderUntilEnd()
    {
        std::error_code error;
        if (!path.empty())
            std::filesystem::remove_all(path, error);
    }
};

} // namespace

Expected<ResolvedPlan> measuring_job(const Plan& plan, int ranks)
{
    Plan job = plan;
    Json& document = job.document;
    document["name"] = "How fast this target is";
    document["gpus"] = ranks;
    document["stack"] = "fourfold";
    document["layout"] = {{"dp", ranks}};
    Json& written = document["training"];
    Json training = {{"micro_batch", 1}, {"global_batch", ranks}};
    for (const char* key : {"seq_len", "precision", "attention"})
        if (written.is_object() && written.contains(key))
            training[key] = written[key];
    written = std::move(training);
    Json& run = document["run"];
    Json data = run.is_object() && run.contains("data") ? run["data"] : Json::array();
    // libgomp's threads spin only shortly, as those of a rank with several threads do in training (start_up.cpp).
    run = {{"steps", 1}, {"data", std::move(data)},
        {"environment", {{"FOURFOLD_MEASURE", "1"}, {"GOMP_SPINCOUNT", "20000"}}}};
    return resolve(job, Presets());
}

Expected<std::vector<Json>> measure_target(
    const ResolvedPlan& job, const Target& target, RunObserver& observer, std::stop_token stop)
{
    const FolderUntilEnd history(std::filesystem::temp_directory_path() / ("fourfold-measure-" + random_token(8)));
    FOURFOLD_CHECK(make_folders(history.path));
    FigureKeeper keeper(observer);
    RunRequest request;
    request.plan = job;
    request.target = target;
    request.measures = true;
    request.history_file = history.path / "history.db";
    FOURFOLD_TRY(const RunResult result, launch(request, keeper, std::move(stop)));
    const FolderUntilEnd run(result.folder);
    if (result.problem)
        return *result.problem;
    if (result.state != RunState::ok)
        return Problem{
            ProblemCode::failed, "the measurement ended as " + std::string(name(result.state)), "", target.id};
    return std::move(keeper.figures);
}

} // namespace fourfold
