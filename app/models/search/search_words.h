// SPDX-License-Identifier: GPL-3.0-or-later
// A search in words: its objectives, how far it is, what came out and why nothing did.
#pragma once

#include "app/models/search/search_headers.h"

#include <QString>

#include <optional>
#include <utility>
#include <vector>

namespace fourfold::ui {

// What parse_objective() takes, with words for people; the first is the usual one.
std::vector<std::pair<QString, QString>> objectiveChoices();

// "1,234 tried, 56 evaluated, about 12 s left".
QString searchProgressText(const SearchCounts& counts, std::optional<double> secondsLeft);
// "412 of 3,186 layouts fit; 9 on the front", or that there is none; why, says obstacle() of
// core/report/views/obstacle.h.
QString searchOutcomeText(const SearchResult& result);

} // namespace fourfold::ui
