// SPDX-License-Identifier: GPL-3.0-or-later
// The rehearsal of a plan in the background, one at a time, with its box over the page.
#pragma once

#include "app/view/rehearsal/rehearsal_job.h"

namespace fourfold::tui {

class Desk;

class Rehearsals {
public:
    explicit Rehearsals(Desk& desk); // outlives it

    void rehearse(); // the plan on show; of one that is under way, the box again
    void show(); // the one under way or the last
    void tick(); // tells how far it is, and what came of it

private:
    Desk& desk_;
    view::RehearsalJob job_;
};

} // namespace fourfold::tui
