// SPDX-License-Identifier: GPL-3.0-or-later
// From the program to the step time: prices, simulation of the schedule, and what follows the last backward.
#pragma once

#include "core/cost/passes.h"
#include "core/cost/roofline.h"
#include "core/plan/plan_schedule.h"
#include "core/predict/prediction.h"
#include "core/schedule/steady_part.h"

namespace fourfold {

class ScheduleOrder;

struct StepTime {
    PartTimes exposed, hidden; // of the reference stage; exposed adds up to the step
    double bubble_fraction = 0; // idle share of the reference stage while the pipeline runs
    int reference_stage = 0; // the busiest
    Timeline timeline;
    Roofline least; // of the plan; `exposed` adds up to no less
    bool at_least = false; // what the constants give would be faster
};

// How many micro-batches of the plan are simulated one by one: all, or as many as bound the work; step_time extends the
// steady state to the rest.
int micro_batches_to_simulate(const ResolvedPlan& plan);
// The micro-batches that the prediction's timeline leaves out.
std::optional<SteadyPart> steady_part(const Prediction& prediction);
ScheduleShape simulated_shape(const ResolvedPlan& plan); // of the plan's schedule with these micro-batches
// Micro-batches beyond those of the schedule that a stage holds at its peak all the same: GPipe's, which all wait for
// the last forward.
int micro_batches_held_beyond(const ResolvedPlan& plan, const PlanSchedule& schedule);

// The end of a step: every stage reduces its gradients when its last backward ends; the gradient norm makes all wait
// for the slowest; then optimizer, parameter gather and the stack's fixed cost. `schedule` may hold fewer micro-batches
// than the plan (see kMaxActions in predict.cpp); the steady state is then extended to the plan's. With an `order` of
// its actions the times are the same and the timeline stays empty: for who prices a plan many times. So it does where
// the actions are not listed.
StepTime step_time(const ResolvedPlan& plan, const std::vector<StageProgram>& program, const PlanSchedule& schedule,
    const CostContext& context, const ScheduleOrder* order = nullptr);

} // namespace fourfold
