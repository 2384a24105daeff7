// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

namespace fourfold::testing {

namespace {
template <typename Row>
std::vector<Row> together(std::initializer_list<std::vector<Row>> parts)
{
    std::vector<Row> rows;
    for (const auto& part : parts)
        rows.insert(rows.end(), part.begin(), part.end());
    return rows;
}
} // namespace

std::vector<Case> all_cases()
{
    return together({tensor_cases(), data_cases(), context_cases(), pipeline_cases()});
}

std::vector<Sabotage> all_sabotages()
{
    return together({tensor_sabotages(), data_sabotages(), context_sabotages(), pipeline_sabotages()});
}

} // namespace fourfold::testing
