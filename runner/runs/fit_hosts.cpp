// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/fit_hosts.h"

#include "core/plan/presets.h"
#include "core/plan/trainable.h"
#include "core/search/refit.h"
#include "runner/target/room.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace fourfold {

namespace {

double least_memory(const std::vector<int>& ranks, const std::vector<HostsLeft::Host>& hosts)
{
    double least = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        if (ranks[i] == 0 || hosts[i].memory_gib <= 0)
            continue;
        const double each = hosts[i].memory_gib / ranks[i];
        least = least > 0 ? std::min(least, each) : each;
    }
    return least;
}

} // namespace

std::vector<HostShares> shares_of_hosts(const std::vector<int>& most, const std::vector<HostsLeft::Host>& hosts)
{
    std::map<int, std::vector<int>, std::greater<>> found; // of each number of GPUs the first that was tried
    const auto add = [&](const std::vector<int>& ranks) {
        if (const int gpus = std::accumulate(ranks.begin(), ranks.end(), 0); gpus > 0)
            found.try_emplace(gpus, ranks);
    };
    std::set<int, std::greater<>> parts;
    for (const int ranks : most) {
        for (int part = 1; part <= ranks; ++part) {
            if (ranks % part == 0)
                parts.insert(part);
        }
    }
    for (const int part : parts) {
        std::vector<int> ranks(hosts.size());
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            if (most[i] < part)
                continue;
            ranks[i] = part;
            add(ranks);
        }
    }
    add(most);
    std::vector<HostShares> out;
    for (auto& [gpus, ranks] : found) {
        const double memory = least_memory(ranks, hosts);
        out.push_back({gpus, std::move(ranks), memory});
    }
    return out;
}

Expected<FittedHosts> fit_hosts(
    const ResolvedPlan& plan, const Target& target, const HostsLeft& left, std::stop_token stop)
{
    RefitRequest request;
    request.plan = plan;
    FOURFOLD_CHECK(hand_to_trainer(request.plan, Presets())); // as plan_launch() does
    FOURFOLD_TRY(const std::vector<int> ranks, ranks_of_hosts(target, plan.gpus));
    FOURFOLD_TRY(const std::string backend, backend_of(target, plan, room_here()));
    std::vector<int> most;
    for (const HostsLeft::Host& host : left.hosts)
        most.push_back(ranks[host.index]);
    const std::vector<HostShares> shares = shares_of_hosts(most, left.hosts);
    for (const HostShares& each : shares)
        request.places.push_back({each.gpus, backend == "gloo" ? each.memory_gib : 0});
    FittedHosts out;
    FOURFOLD_TRY(out.plan, refit(request, std::move(stop)));
    out.target = target;
    out.target.hosts.clear();
    const auto chosen = std::find_if(
        shares.begin(), shares.end(), [&](const HostShares& each) { return each.gpus == out.plan.gpus; });
    for (std::size_t i = 0; i < left.hosts.size(); ++i) {
        if (chosen->ranks[i] == 0)
            continue;
        out.hosts.push_back(left.hosts[i].index);
        out.target.hosts.push_back(target.hosts[left.hosts[i].index]);
        out.target.hosts.back().ranks = chosen->ranks[i];
    }
    return out;
}

} // namespace fourfold
