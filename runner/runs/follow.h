// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the ranks of a run on all its nodes until the agents say that they have ended, whatever the links do.
#pragma once

#include "runner/nodes/node.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run.h"

#include <optional>
#include <stop_token>
#include <string>

namespace fourfold {

// Why all ranks are to be stopped, and what the nodes' last events say then.
struct StopOrder {
    RunState status = RunState::cancelled;
    std::string why;
    Json error; // the failing rank's `error` event, or null
};

enum class OnStop { cancel, detach };

struct FollowResult {
    RunState state = RunState::fail; // not terminal when detached, when the events cannot be stored here any
                                     // more (`running`), or when a node could not be reached to stop it (`stopping`)
    std::optional<Problem> problem;
    RunState ordered = RunState::lost; // of `stopping`: what its end would have been
};

struct FollowOptions {
    OnStop on_stop = OnStop::cancel;
    double link_s = 5; // a link that says nothing for so long is given up and made anew
    double stop_grace_s = 2;
    double save_s = 0; // what ranks that save a checkpoint get beyond that, where they say that they do
    double give_up_s = 15; // how long a stop tries to reach a node
    bool was_launching = false; // as far as is known no rank was started before
    std::optional<StopOrder> order; // stop from the beginning (a node could not start its ranks)
};

// `nodes` may be connected or not. Calls `observer` on this thread. Sets the run's state in the history.
FollowResult follow(std::vector<Node>& nodes, Recorder& recorder, RunObserver& observer, Mailbox& mailbox,
    std::stop_token stop, const FollowOptions& options);

} // namespace fourfold
