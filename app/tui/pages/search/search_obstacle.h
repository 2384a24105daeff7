// SPDX-License-Identifier: GPL-3.0-or-later
// Why a search found nothing, and which changes of the plan would do.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/list.h"
#include "app/view/background.h"
#include "core/search/advice.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::tui {

class SearchObstacle {
public:
    explicit SearchObstacle(Desk& desk); // outlives it
    void show(const SearchRequest& request, const SearchResult& result); // and looks for what would do
    void forget();
    void tick() { work_.deliver(); }
    [[nodiscard]] bool is_there() const { return problem_.has_value(); }
    void draw(Canvas& canvas, const Rect& place);
    [[nodiscard]] std::vector<std::string> lines() const;
    bool key(const Key& key) { return list_.key(key, static_cast<int>(cures_.size())); }
    void apply_chosen(); // to the plan on show

private:
    Desk& desk_;
    view::Background work_;
    std::optional<Problem> problem_;
    ResolvedPlan asked_; // what was searched from
    std::vector<Advice> cures_;
    List list_; // of these
};

} // namespace fourfold::tui
