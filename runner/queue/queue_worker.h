// SPDX-License-Identifier: GPL-3.0-or-later
// Who gives the queued runs their turns, and who sees to one of them. Both are processes of their own, so that neither
// the end of the program that added a run nor a fault in one run touches another; a run that goes on when its process
// is gone is followed by the next one.
#pragma once

#include "runner/queue/run_queue.h"

#include <functional>
#include <stop_token>

namespace fourfold {

// Sees to one run of the queue to its end: waits until no other run of this computer's history has its hosts, launches
// it, or follows it where it runs already, and writes down what became of it. No question is answered: a host whose key
// is unknown, or a password, keeps a run from starting. Taken out of the queue before it has a run it is given up.
// Fails where another program sees to it, or the queue cannot be written.
Expected<void> see_to_queued_run(
    const RunQueue& queue, std::int64_t number, RunObserver& observer, const std::stop_token& stop);

// Gives turns until nothing waits (or the queue is paused) and nothing is taken, or stop is requested: what runs then
// goes on by itself. Returns false at once where another program does.
// `begin` starts the process that calls see_to_queued_run(); its id.
Expected<bool> give_turns(
    const RunQueue& queue, const std::function<Expected<int>(std::int64_t)>& begin, const std::stop_token& stop);

// `fourfold queue work --number N` in a session of its own.
Expected<int> begin_queued_run(const RunQueue& queue, std::int64_t number);

// Starts `fourfold queue work` behind everything, unless somebody gives turns already or nothing waits for one.
// `program`: default `fourfold` beside this one.
Expected<void> ensure_turns(const RunQueue& queue, std::filesystem::path program = {});

} // namespace fourfold
