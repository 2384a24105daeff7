// SPDX-License-Identifier: GPL-3.0-or-later
// What would let a search find a layout, where it found none.
#pragma once

#include "core/search/advice.h"
#include "core/search/search.h"

namespace fourfold {

// The cheapest changes that lead to a layout that fits and meets all constraints, at most `most`, each of its own kind:
// of the layout that came nearest to a constraint that none met, or of the best one without that constraint; else of
// the one that needs the least memory. Where constraints exclude one another: of the best layout without one of them,
// each in turn. These may leave the space (offload, precision, more GPUs or fewer). Where no single change and no pair
// is enough: another number of GPUs on which the search finds something, the first of those halved again and again
// (where it is a constraint that stands in the way) and doubled up to 64 times as many.
// Empty where the search found something, where none of this is enough, and after `stop`.
std::vector<Advice> cures(
    const SearchRequest& request, const SearchResult& result, int most = 3, std::stop_token stop = {});

} // namespace fourfold
