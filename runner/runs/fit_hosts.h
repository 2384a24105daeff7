// SPDX-License-Identifier: GPL-3.0-or-later
// Plan and target for the hosts that are left of a target.
#pragma once

#include "core/plan/plan.h"
#include "runner/preflight/hosts_left.h"

#include <cstddef>
#include <stop_token>
#include <vector>

namespace fourfold {

struct FittedHosts {
    ResolvedPlan plan;
    Target target; // the hosts that take ranks, with how many
    std::vector<std::size_t> hosts; // their places in the target that was given
};

// The numbers of GPUs that these hosts make, and which host gives how many of them.
struct HostShares {
    int gpus = 0;
    std::vector<int> ranks; // of each host; 0 = not used
    double memory_gib = 0; // of the hosts for each rank, the least; 0 = not known
};
// Whole hosts, equal parts of hosts (divisors of what a host holds), and all of what there is. `most`: ranks that each
// host holds. Each number of GPUs once, on as few hosts as can be, the first ones first; most GPUs first.
std::vector<HostShares> shares_of_hosts(const std::vector<int>& most, const std::vector<HostsLeft::Host>& hosts);

// `plan` on the layout that refit() finds for the hosts `left` of `target`, of which each holds no more ranks than the
// plan gives it. Fails as refit() does.
Expected<FittedHosts> fit_hosts(
    const ResolvedPlan& plan, const Target& target, const HostsLeft& left, std::stop_token stop);

} // namespace fourfold
