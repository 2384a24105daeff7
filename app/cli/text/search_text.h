// SPDX-License-Identifier: GPL-3.0-or-later
// How a search's answer reads: tables of layouts, why the others were left out, and what to do when none is left.
#pragma once

#include "core/report/table/table.h"
#include "core/search/search.h"

namespace fourfold::cli {

// One row a layout, best first.
Table layout_table(const SearchRequest& request, const std::vector<FoundLayout>& layouts);
std::string search_text(const SearchRequest& request, const SearchResult& result, bool pareto);
Json search_json(const SearchRequest& request, const SearchResult& result);

// Why there is no layout: the constraint that empties the space and by how much, or the memory that is missing.
Problem nothing_found(const SearchRequest& request, const SearchResult& result);

// Every field of expressions with unit and meaning.
Table field_table();

} // namespace fourfold::cli
