// SPDX-License-Identifier: GPL-3.0-or-later
// The questions about a comparison: what comes into it, what goes, which one is the reference.
#pragma once

#include "app/tui/pages/compare/compare_list.h"
#include "app/tui/pages/compare/compare_sets.h"

namespace fourfold::tui {

class CompareQuestions {
public:
    CompareQuestions(Desk& desk, CompareList& list, CompareSets& sets); // all outlive it

    void ask_to_add();
    void ask_to_remove();
    void ask_reference();
    void pick_row(const std::filesystem::path& table); // of a measured table, to be added

private:
    void pick_run();
    void pick_plan();
    void pick_table();

    Desk& desk_;
    CompareList& list_;
    CompareSets& sets_;
};

} // namespace fourfold::tui
