// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/run_record.h"

#include "core/base/paths.h"
#include "runner/protocol/message.h"

namespace fourfold {

namespace {

NewRun new_run(const LaunchPlan& plan, const std::string& id)
{
    NewRun run;
    run.id = id;
    run.name = plan.plan.name;
    run.target = plan.target.id;
    run.stack = plan.plan.stack.id;
    run.plan_hash = plan_hash(plan.plan);
    run.layout_hash = layout_hash(plan.plan);
    run.plan = to_json(plan.plan, PresetStyle::inlined);
    run.prediction = to_json(plan.prediction);
    if (plan.planned)
        run.planned_prediction = to_json(*plan.planned);
    for (std::size_t i = 0; i < plan.ranks.size(); ++i)
        run.hosts.push_back(host_name(plan.target, i));
    run.environment = Json::object();
    for (const auto& [key, value] : plan.environment)
        run.environment[key] = value;
    return run;
}

// What another program needs to find the nodes of this run again.
Expected<void> write_folder(const std::filesystem::path& folder, const NewRun& run, const LaunchPlan& plan)
{
    if (const std::error_code error = make_private_folders(folder))
        return Problem{ProblemCode::io, "the run folder cannot be made: " + error.message(), {}, folder.string()};
    FOURFOLD_CHECK(write_file_atomically(folder / "plan.json", to_wire(run.plan) + "\n"));
    FOURFOLD_CHECK(write_file_atomically(folder / "prediction.json", to_wire(run.prediction) + "\n"));
    Json ranks = Json::array();
    for (const auto& places : plan.ranks) {
        Json list = Json::array();
        for (const RankPlace& place : places)
            list.push_back(place.rank);
        ranks.push_back(std::move(list));
    }
    return write_file_atomically(folder / "launch.json",
        to_wire({{"run", run.id}, {"target", to_json(plan.target)}, {"ranks", std::move(ranks)}}) + "\n");
}

} // namespace

std::filesystem::path run_record_folder(const std::string& run)
{
    return data_folder() / "runs" / run;
}

bool was_asked_to_stop(const std::filesystem::path& folder)
{
    std::error_code ignored;
    return std::filesystem::exists(folder / kStopFile, ignored);
}

Expected<Json> launch_record(const std::string& run)
{
    const auto file = run_record_folder(run) / "launch.json";
    std::error_code error;
    if (!std::filesystem::exists(file, error) && !error)
        return Problem{ProblemCode::not_found, "this computer has no record of where the run was launched",
            "name its nodes with --target", file.string()};
    return read_json_file(file);
}

Expected<Target> recorded_target(const std::string& run)
{
    FOURFOLD_TRY(const Json launched, launch_record(run));
    return target_from_json(object_field(launched, "target"), (run_record_folder(run) / "launch.json").string());
}

Expected<void> record_ways(const std::string& run, const std::vector<TargetHost>& hosts)
{
    FOURFOLD_TRY(Json launched, launch_record(run));
    FOURFOLD_TRY(Target target, recorded_target(run));
    if (target.kind != TargetKind::ssh || target.hosts.size() != hosts.size())
        return {};
    const Json before = to_json(target);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const int ranks = target.hosts[i].ranks;
        target.hosts[i] = hosts[i];
        target.hosts[i].ranks = ranks;
    }
    if (to_json(target) == before)
        return {};
    launched["target"] = to_json(target);
    return write_file_atomically(run_record_folder(run) / "launch.json", to_wire(launched) + "\n");
}

Expected<void> record_launch(const LaunchPlan& plan, const std::string& run)
{
    return write_folder(run_record_folder(run), new_run(plan, run), plan);
}

Expected<void> record_run(HistoryStore& store, const LaunchPlan& plan, const std::string& run, const std::string& note)
{
    NewRun stored = new_run(plan, run);
    stored.note = note;
    FOURFOLD_CHECK(write_folder(run_record_folder(run), stored, plan));
    return store.create_run(stored);
}

} // namespace fourfold
