// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/choose_device.h"

#include <map>

namespace fourfold::trainer {

namespace {

std::string rank_on_host(const std::vector<Json>& hosts, std::size_t rank)
{
    return "rank " + std::to_string(rank) + " on " + hosts[rank]["host"].get<std::string>();
}

bool on_gpus(const Job& job, const ResolvedPlan& plan)
{
    return job.backend.empty() ? !plan.cluster.gpu.is_cpu() : job.backend == "nccl";
}

} // namespace

Json gpu_claim(int local_rank, const std::vector<std::string>& ids)
{
    const auto count = static_cast<int>(ids.size());
    const int index = local_rank < count ? local_rank : count == 1 ? 0 : -1;
    return {{"has_gpu", index >= 0}, {"gpu_index", index},
        {"gpu_id", index >= 0 ? Json(ids[static_cast<std::size_t>(index)]) : Json(nullptr)}};
}

Expected<void> check_devices(const Job& job, const ResolvedPlan& plan, const std::vector<Json>& hosts)
{
    if (!on_gpus(job, plan))
        return {};
    std::map<std::string, std::size_t> taken;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        if (!hosts[rank]["has_gpu"].get<bool>())
            return Problem{ProblemCode::unsupported,
                rank_on_host(hosts, rank) + " has no GPU, and the job runs on GPUs",
                "start fourfold-trainer-cuda on nodes with a GPU for each rank, or ask for CPU ranks by name (gloo)",
                job.backend.empty() ? "the plan's cluster" : "FOURFOLD_BACKEND"};
        const auto id = hosts[rank]["gpu_id"].get<std::string>(); // empty where the driver does not tell
        if (const auto [other, fresh] = taken.emplace(id, rank); !fresh && !id.empty())
            return Problem{ProblemCode::unsupported,
                rank_on_host(hosts, other->second) + " and rank " + std::to_string(rank) + " would share one GPU",
                "set LOCAL_RANK, or let CUDA_VISIBLE_DEVICES show each rank another GPU", "GPU " + id};
    }
    return {};
}

Device choose_device(const Job& job, const ResolvedPlan& plan, const Json& own)
{
    if (!on_gpus(job, plan))
        return {};
    return {true, "nccl", own["gpu_index"].get<int>()};
}

} // namespace fourfold::trainer
