// SPDX-License-Identifier: GPL-3.0-or-later
// Work on one node before its ranks run, which a cut does not end: the node is reached again and goes on from where the
// work was.
#pragma once

#include "runner/nodes/node.h"
#include "runner/nodes/reconnect.h"

#include <functional>
#include <stop_token>

namespace fourfold {

class KeptLink {
public:
    // Gives up when nothing advanced for `limit_s`. Tells `observer`, through `mailbox`, what it waits for.
    KeptLink(Node& node, double limit_s, Mailbox& mailbox, RunObserver& observer);

    // Connects where needed and does `work`, again after each cut. Everything else that goes wrong is final.
    Expected<void> run(const std::stop_token& stop, const std::function<Expected<void>()>& work);
    // The work got further: a cut from now on counts from its beginning.
    void advanced() { attempts_.reached(); }

private:
    Expected<void> connect(const std::stop_token& stop);
    // Says so and waits; false where no further attempt will help.
    bool tries_again(const Problem& problem, const std::stop_token& stop);
    void tell(LinkState state);

    Node& node_;
    double limit_s_;
    Mailbox& mailbox_;
    RunObserver& observer_;
    Reconnect attempts_;
};

} // namespace fourfold
