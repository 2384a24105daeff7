// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/nodes/kept_link.h"

#include <algorithm>
#include <cstdio>
#include <thread>

namespace fourfold {

using namespace std::chrono_literals;

KeptLink::KeptLink(Node& node, double limit_s, Mailbox& mailbox, RunObserver& observer)
    : node_(node)
    , limit_s_(limit_s)
    , mailbox_(mailbox)
    , observer_(observer)
    , attempts_(limit_s)
{
}

void KeptLink::tell(LinkState state)
{
    mailbox_.post([&observer = observer_, state, name = node_.name] { observer.on_link(state, name); });
}

bool KeptLink::tries_again(const Problem& problem, const std::stop_token& stop)
{
    const auto wait = attempts_.wait_after(problem);
    if (!wait)
        return false;
    if (attempts_.is_news(problem)) {
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%g s", limit_s_);
        mailbox_.post([&observer = observer_, text = problem.line() + "; tries again for " + seconds] {
            observer.on_state(RunState::staging, text);
        });
    }
    const auto until = std::chrono::steady_clock::now() + *wait;
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(*wait, 50ms));
    return !stop.stop_requested();
}

Expected<void> KeptLink::connect(const std::stop_token& stop)
{
    for (;;) {
        const auto connected = node_.connect(stop);
        if (connected)
            return {};
        if (!tries_again(connected.error(), stop))
            return connected.error();
    }
}

Expected<void> KeptLink::run(const std::stop_token& stop, const std::function<Expected<void>()>& work)
{
    for (;;) {
        if (!node_.agent) {
            FOURFOLD_CHECK(connect(stop));
            tell(LinkState::connected);
        }
        const auto done = work();
        if (done || !node_.agent->link_lost() || stop.stop_requested())
            return done;
        node_.agent.reset();
        tell(LinkState::reconnecting);
        if (!tries_again(done.error(), stop))
            return done;
    }
}

} // namespace fourfold
