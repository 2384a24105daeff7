// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan_schedule.h"

#include "core/base/text.h"
#include "core/plan/named_file.h"
#include "core/schedule/rank_actions.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedules.h"

namespace fourfold {
namespace {

// Does the file describe this plan's pipeline?
Expected<void> check_against_plan(const ScheduleFile& file, const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const std::string name = in_quotes(plan.training.schedule_csv);
    const auto differs
        = [&](const std::string& file_has, const std::string& plan_has, const std::string& hint, const char* field) {
              return Problem{ProblemCode::bad_input,
                  "the schedule " + name + " has " + file_has + ", the plan " + plan_has, hint, field};
          };
    const int ranks = int(file.actions.size()), chunks = int(file.stage_of_chunk.size());
    if (ranks != layout.pp)
        return differs(std::to_string(ranks) + " rows (ranks)", "pp " + std::to_string(layout.pp),
            "set pp to " + std::to_string(ranks), "layout.pp");
    if (chunks != layout.pp * layout.virtual_stages) {
        const bool even = chunks % ranks == 0;
        return differs(std::to_string(chunks) + " stages",
            "pp x virtual_stages = " + std::to_string(layout.pp * layout.virtual_stages),
            even ? "set virtual_stages to " + std::to_string(chunks / ranks)
                 : "each rank needs the same number of stages",
            "layout.virtual_stages");
    }
    std::vector<int> own(static_cast<std::size_t>(ranks), 0);
    for (const int rank : file.stage_of_chunk)
        ++own[static_cast<std::size_t>(rank)];
    for (int rank = 0; rank < ranks; ++rank) {
        if (own[static_cast<std::size_t>(rank)] != layout.virtual_stages)
            return differs(
                std::to_string(own[static_cast<std::size_t>(rank)]) + " stages on row " + std::to_string(rank + 1),
                std::to_string(layout.virtual_stages) + " on each", "each rank needs the same number of stages",
                "training.schedule");
    }
    if (file.micro_batches != plan.training.micro_batches)
        return differs(std::to_string(file.micro_batches) + " micro-batches",
            std::to_string(plan.training.micro_batches),
            "set global_batch to "
                + std::to_string(int64_t(file.micro_batches) * plan.training.micro_batch * layout.dp),
            "training.global_batch");
    return {};
}

} // namespace

bool passes_side_by_side(const ResolvedPlan& plan)
{
    return exchanges_beside(plan) || tensor_parallel_beside(plan);
}

bool exchanges_beside(const ResolvedPlan& plan)
{
    const bool has_it_so = plan.layout.pp > 1 && traits_of(plan.training.schedule).hides_exchanges;
    return plan.model.experts && plan.layout.ep > 1 && (plan.training.overlap.expert_exchange || has_it_so);
}

bool tensor_parallel_beside(const ResolvedPlan& plan)
{
    return plan.training.overlap.tensor_parallel && plan.training.async_tp && plan.layout.tp > 1;
}

ScheduleShape schedule_shape(const ResolvedPlan& plan, int micro_batches)
{
    return {plan.training.schedule, plan.layout.pp, plan.layout.virtual_stages, micro_batches};
}

Expected<PlanSchedule> plan_schedule(const ResolvedPlan& plan, int micro_batches)
{
    const Training& training = plan.training;
    const Layout& layout = plan.layout;
    if (training.schedule_csv.empty()) {
        PlanSchedule schedule{{}, chunk_placement(training.schedule, layout.pp, layout.virtual_stages),
            schedule_shape(plan, micro_batches)};
        FOURFOLD_CHECK(check_schedule(schedule.shape));
        if (passes_of(schedule.shape) <= kMostListedPasses) {
            FOURFOLD_TRY(schedule.actions, make_schedule(schedule.shape));
        }
        return schedule;
    }
    FOURFOLD_TRY(const auto path, named_file(plan, training.schedule_csv, "training.schedule"));
    auto file = read_schedule_file(path);
    if (!file) {
        Problem problem = file.error();
        problem.message = problem.where + ": " + problem.message;
        problem.where = "training.schedule";
        return problem;
    }
    FOURFOLD_CHECK(check_against_plan(*file, plan));
    return PlanSchedule{std::move(file->actions), std::move(file->stage_of_chunk),
        {training.schedule, layout.pp, layout.virtual_stages, file->micro_batches}};
}

const std::vector<Action>& PlanSchedule::actions_of(std::size_t stage, std::vector<Action>& room) const
{
    if (listed())
        return actions[stage];
    room = RankActions(shape, int(stage)).list();
    return room;
}

Problem too_long_to_list(const ScheduleShape& shape, const std::string& where)
{
    return {ProblemCode::unsupported,
        "the schedule has " + std::to_string(passes_of(shape)) + " passes, the limit is "
            + std::to_string(kMostListedPasses),
        "", where};
}

std::size_t passes_of(const ScheduleShape& shape)
{
    return std::size_t(shape.pp) * RankActions(shape, 0).count();
}

Reason broken_schedule(const ResolvedPlan& plan, const Problem& problem)
{
    return {plan.training.schedule_csv.empty() ? "schedule" : "schedule_file", problem.where,
        problem.hint.empty() ? problem.message : problem.message + "; " + problem.hint, ""};
}

std::optional<Reason> broken_schedule_file(const ResolvedPlan& plan)
{
    if (plan.training.schedule_csv.empty())
        return std::nullopt;
    const auto schedule = plan_schedule(plan, plan.training.micro_batches);
    return schedule ? std::nullopt : std::optional(broken_schedule(plan, schedule.error()));
}

} // namespace fourfold
