// SPDX-License-Identifier: GPL-3.0-or-later
// What would let a search find a layout, where it found none.
#pragma once

#include "core/search/advice.h"
#include "core/search/search.h"

namespace fourfold {

// The cheapest changes that lead to a layout that fits and meets all constraints, at most `most`, each of its own kind:
// of the layout that came nearest to a constraint that none met, or of the best one without that constraint; else of
// the one that needs the least memory. They may leave the space (offload, precision, more GPUs or fewer). Empty where
// the search found something, where no layout came near, and where no single change (for memory: no pair of changes) is
// enough.
std::vector<Advice> cures(const SearchRequest& request, const SearchResult& result, int most = 3);

} // namespace fourfold
