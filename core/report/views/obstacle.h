// SPDX-License-Identifier: GPL-3.0-or-later
// How a search that found nothing reads.
#pragma once

#include "core/search/search.h"

namespace fourfold {

// What kept every layout out, and in its hint how near the nearest came: axes without a combination, a constraint that
// none meets (by how much), memory (what the smallest needs), constraints that exclude one another (how many layouts
// each lets through), the software that stops at all that fit, or the most frequent rule. Precondition: the search
// found nothing and was not cancelled.
Problem obstacle(const SearchRequest& request, const SearchResult& result);

} // namespace fourfold
