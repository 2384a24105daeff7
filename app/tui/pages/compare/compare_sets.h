// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons that are kept by a name, and the questions about them.
#pragma once

#include "app/tui/desk.h"
#include "app/view/compare/kept_comparison.h"

#include <functional>
#include <map>
#include <string>

namespace fourfold::tui {

class CompareSets {
public:
    using Sets = std::map<std::string, view::KeptComparison>; // by their names
    // `now`: what is compared, the plans by their files; `show` puts a comparison in its place.
    CompareSets(Desk& desk, std::function<view::KeptComparison()> now,
        std::function<void(const view::KeptComparison&)> show);

    [[nodiscard]] const Sets& all() const { return sets_; }
    void set(Sets sets) { sets_ = std::move(sets); }
    void ask(); // which one to show, to save or to forget
    [[nodiscard]] Json state() const; // of the session
    void restore(const Json& state);

private:
    void ask_to_save();
    void ask_to_forget();
    void save(const std::string& name);
    void show(const std::string& name); // opens the plans of it that are not open

    Desk& desk_;
    std::function<view::KeptComparison()> now_;
    std::function<void(const view::KeptComparison&)> show_;
    Sets sets_;
};

} // namespace fourfold::tui
