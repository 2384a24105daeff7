// SPDX-License-Identifier: GPL-3.0-or-later
// What happens before the first step: is everything usable, what runs where, and the `start` event that records it.
#pragma once

#include "core/history/event_types.h"
#include "core/plan/plan.h"
#include "runner/trainer/choose_device.h"
#include "runner/trainer/comm/rendezvous.h"
#include "runner/trainer/job.h"

#include <string>
#include <vector>

namespace fourfold::trainer {

// The program was compiled against one LibTorch; another one may crash or, worse, compute something else.
Expected<void> check_libtorch();
// A plan that this trainer runs.
Expected<ResolvedPlan> read_checked_plan(const std::filesystem::path& file);
// The job's plan, if this trainer runs it on as many ranks as the job has.
Expected<ResolvedPlan> read_checked_plan(const Job& job);
// FOURFOLD_PADDING: the token that fills up sequences and is never a target; -1 without it.
Expected<int64_t> padding_token();
// FOURFOLD_MEASURE=1: how fast the ranks are is measured (measure/measure.h), nothing is trained.
bool is_to_measure();
// LibTorch's threads of a rank on this node: its cores, shared among its ranks, unless OMP_NUM_THREADS says otherwise.
int threads_of_rank(const ResolvedPlan& plan);
// Makes it so. May start
// the program once more, in the same process: call it before anything is opened that others see.
int use_threads(const ResolvedPlan& plan, const Job& job);
// Gives back memory that only starting needed. Before the first step.
void release_start_up_memory();

// Every rank tells rank 0 what it runs on. On rank 0 one object per rank, with those of gpu_claim(); on another its own
// alone.
Expected<std::vector<Json>> gather_host_facts(const Job& job, const ResolvedPlan& plan, Rendezvous& rendezvous);

// Ranks of different plans would train apart, without a word where they have the same shapes. Takes the plans out of
// the facts.
Expected<void> take_same_plans(std::vector<Json>& hosts);
StartEvent start_event(
    const Job& job, const ResolvedPlan& plan, const Device& device, const std::vector<Json>& hosts, int threads);

} // namespace fourfold::trainer
