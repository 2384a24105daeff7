// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/enumerate.h"

#include "core/plan/chunk_placement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold {
namespace {

bool takes(Schedule schedule, int virtual_stages)
{
    switch (schedule) {
    case Schedule::interleaved:
        return virtual_stages >= 2;
    case Schedule::zb_v:
        return virtual_stages == 2;
    case Schedule::gpipe:
    case Schedule::one_f_one_b:
    case Schedule::zb_h1:
        return virtual_stages == 1;
    case Schedule::csv:
        return true;
    }
    return false;
}

// The order without the dimensions of one rank: what tells meshes apart.
std::vector<Dimension> essential_order(const std::array<Dimension, 4>& order, const MeshUnit& unit)
{
    const Layout layout = [&] {
        Layout mesh;
        mesh.tp = unit.tp;
        mesh.cp = unit.cp;
        mesh.pp = unit.pp;
        mesh.dp = unit.dp;
        return mesh;
    }();
    std::vector<Dimension> essential;
    for (const Dimension dimension : order) {
        if (layout.degree(dimension) > 1)
            essential.push_back(dimension);
    }
    return essential;
}

} // namespace

std::vector<MeshUnit> mesh_units(const SearchSpace& space)
{
    std::vector<MeshUnit> all, part;
    for (MeshParts parts(space); parts.next(part);)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

bool MeshParts::next(std::vector<MeshUnit>& units)
{
    constexpr std::size_t kEnough = 16'384;
    units.clear();
    first_ = next_;
    while (units.size() < kEnough && !is_last()) {
        for_each_mesh(space_, space_.gpus[next_], [&](int tp, int cp, int pp, int dp) {
            std::vector<std::vector<Dimension>> seen;
            for (std::size_t order = 0; order < space_.orders.size(); ++order) {
                const MeshUnit unit{tp, cp, pp, dp, std::uint8_t(order)};
                std::vector<Dimension> essential = essential_order(space_.orders[order], unit);
                if (std::find(seen.begin(), seen.end(), essential) != seen.end())
                    continue;
                seen.push_back(std::move(essential));
                units.push_back(unit);
            }
        });
        ++next_;
    }
    return next_ > first_;
}

double MeshParts::done(double share) const
{
    const double before = double(first_), of_part = double(next_ - first_);
    return (before + share * of_part) / double(space_.gpus.size());
}

int rounded_batch(int batch, std::int64_t unit, double tolerance)
{
    if (tolerance <= 0)
        return batch;
    const std::int64_t rounded = std::max<std::int64_t>(1, std::llround(double(batch) / double(unit))) * unit;
    if (rounded > std::numeric_limits<int>::max() || std::abs(double(rounded) - batch) > tolerance * batch)
        return 0;
    return int(rounded);
}

void for_each_candidate(const SearchSpace& space, const ResolvedPlan& plan, const MeshUnit& unit,
    const std::function<void(const Candidate&)>& visit)
{
    Candidate candidate;
    candidate.tp = unit.tp;
    candidate.cp = unit.cp;
    candidate.pp = unit.pp;
    candidate.dp = unit.dp;
    candidate.order = unit.order;
    const auto each_recompute = [&] {
        for (const Recompute recompute : space.recompute) {
            candidate.recompute = recompute;
            visit(candidate);
        }
    };
    const auto each_batch = [&] {
        for (const int micro_batch : space.micro_batch) {
            if (micro_batch > std::numeric_limits<std::int16_t>::max())
                continue;
            candidate.micro_batch = std::int16_t(micro_batch);
            const bool rounds = candidate.schedule == Schedule::interleaved && unit.pp > 1;
            const std::int64_t batch_unit = std::int64_t(micro_batch) * unit.dp * (rounds ? unit.pp : 1);
            candidate.global_batch = rounded_batch(plan.training.global_batch, batch_unit, space.batch_tolerance);
            if (candidate.global_batch > 0)
                each_recompute();
        }
    };
    const auto each_schedule = [&] {
        if (unit.pp == 1) {
            candidate.virtual_stages = 1;
            candidate.schedule = Schedule::one_f_one_b;
            each_batch();
            return;
        }
        for (const Schedule schedule : space.schedule) {
            candidate.schedule = schedule;
            for (const int virtual_stages : space.virtual_stages) {
                if (!takes(schedule, virtual_stages) || virtual_stages > std::numeric_limits<std::int16_t>::max()
                    || std::int64_t(unit.pp) * virtual_stages > kMaxChunks)
                    continue;
                candidate.virtual_stages = std::int16_t(virtual_stages);
                each_batch();
            }
        }
    };
    for (const int ep : space.ep) {
        candidate.ep = ep;
        for (const Sharding sharding : space.sharding) {
            candidate.sharding = sharding;
            each_schedule();
        }
    }
}

} // namespace fourfold
