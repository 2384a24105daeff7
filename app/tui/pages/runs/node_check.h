// SPDX-License-Identifier: GPL-3.0-or-later
// A look at the nodes of a target: what is there, and, once they are measured, a cluster made of it.
#pragma once

#include "app/tui/desk.h"
#include "app/view/cluster/node_cluster.h"
#include "app/view/runs/run_job.h"

#include <optional>
#include <string>

namespace fourfold::tui {

class NodeCheck {
public:
    NodeCheck(Desk& desk, view::RunJob& job) // which looks; both outlive it
        : desk_(desk)
        , job_(job)
    {
    }
    void look(const std::string& target); // unless the job has other work
    void show(const Expected<ProbeReport>& report); // that the job brought

private:
    void measure(const view::ClusterWish& wish);
    void save(const ProbeReport& report, const view::ClusterWish& wish);

    Desk& desk_;
    view::RunJob& job_;
    std::optional<Target> target_; // that was looked at last
    std::optional<view::ClusterWish> wish_; // what the look under way is for
};

} // namespace fourfold::tui
