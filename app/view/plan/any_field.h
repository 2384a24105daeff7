// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of a plan's file that one line can set, whether a page has a control for it or not.
#pragma once

#include "core/plan/fields.h"
#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace fourfold::view {

struct AnyField {
    std::string path; // "run.lr", "run.data.0.weight"
    std::string help;
    std::string written; // as with_any_field() reads it; empty: not written
    std::string otherwise; // what holds then; empty: nothing, or not known
    std::vector<std::string> choices; // of a word or yes and no; empty: free text
};

// In the order of the table: what can be written in this plan. A model or cluster that is a preset has no fields of its
// own. `resolved`: the plan with its defaults; null where it does not resolve.
std::vector<AnyField> any_fields(const Plan& plan, const ResolvedPlan* resolved);

// The plan with a field as a person types it: "8,192", "0.9, 0.95", "tp, cp, pp, dp", "yes", "corpus.bin"; an empty
// text gives the field its default back. Token files have to be there.
Expected<Plan> with_any_field(const Plan& plan, const std::string& path, const std::string& text);

} // namespace fourfold::view
