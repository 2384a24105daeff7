// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a job run on. A plan on GPUs never runs on CPUs unless the job says so by name.
#pragma once

#include "core/base/json.h"
#include "core/plan/plan.h"
#include "runner/trainer/job.h"

#include <string>
#include <vector>

namespace fourfold::trainer {

struct Device {
    bool cuda = false;
    std::string backend = "gloo";
    int gpu = -1; // of this process, where `cuda` is set
};

// What a rank tells the others of the GPU that it would take: {"has_gpu", "gpu_index", "gpu_id"}. `ids`: of the GPUs
// that its process sees. It takes the one of its local rank, or, where the launcher shows each rank one GPU, that one.
Json gpu_claim(int local_rank, const std::vector<std::string>& ids);

// A Problem (unsupported) where ranks that should run on GPUs have none, or two of them the same one. `hosts`: the
// facts of every rank, its claim among them.
Expected<void> check_devices(const Job& job, const ResolvedPlan& plan, const std::vector<Json>& hosts);
// What this rank runs on, where check_devices() has nothing against it. `own`: its facts.
Device choose_device(const Job& job, const ResolvedPlan& plan, const Json& own);

} // namespace fourfold::trainer
