// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/sweep/cells.h"

#include "core/plan/presets.h"

#include <algorithm>

namespace fourfold {

std::string layout_name(const GridLayout& layout)
{
    return "tp " + std::to_string(layout.tp) + ", cp " + std::to_string(layout.cp) + ", pp " + std::to_string(layout.pp)
        + ", micro-batch " + std::to_string(layout.micro_batch)
        + (layout.virtual_stages > 1 ? ", " + std::to_string(layout.virtual_stages) + " virtual stages" : "");
}

std::string SweepCell::name() const
{
    return layout_name(layout) + ", " + std::to_string(gpus) + " GPUs";
}

std::string SweepCell::key() const
{
    return "tp" + std::to_string(layout.tp) + "-cp" + std::to_string(layout.cp) + "-pp" + std::to_string(layout.pp)
        + "-mb" + std::to_string(layout.micro_batch) + "-v" + std::to_string(layout.virtual_stages) + "-gpus"
        + std::to_string(gpus);
}

Expected<ResolvedPlan> plan_of_cell(const Plan& plan, const SweepCell& cell)
{
    FOURFOLD_TRY(const ResolvedPlan base, resolve(plan, Presets()));
    auto resolved = plan_of_cell(base, cell.layout, cell.gpus);
    if (!resolved)
        return Problem{ProblemCode::bad_input, resolved.error().message, {}, cell.key()};
    if (const auto reasons = check(*resolved); !reasons.empty())
        return Problem{ProblemCode::bad_input, reasons.front().field + ": " + reasons.front().message, {}, cell.key()};
    return resolved;
}

Target target_of_cell(const Target& target, int gpus)
{
    Target out = target;
    int given = 0;
    std::size_t used = 0;
    for (const TargetHost& host : target.hosts) {
        if (host.ranks == 0)
            return out;
        if (given < gpus)
            ++used;
        given += host.ranks;
    }
    if (target.kind != TargetKind::ssh || used == 0)
        return out;
    out.hosts.resize(used);
    int before = 0;
    for (std::size_t i = 0; i + 1 < used; ++i)
        before += out.hosts[i].ranks;
    if (gpus - before > 0)
        out.hosts.back().ranks = std::min(out.hosts.back().ranks, gpus - before);
    return out;
}

} // namespace fourfold
