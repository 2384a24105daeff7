// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/derivation.h"

#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

std::string explained_value(const Explanation& explanation)
{
    if (!explanation.value)
        return kUnknown;
    const double value = *explanation.value;
    const std::string& unit = explanation.unit;
    if (unit == "s")
        return value < 0 ? "-" + duration(-value) : duration(value);
    if (unit == "ratio")
        return std::abs(value) <= 1 ? percent(value, 2) + " %" : significant(value);
    if (unit.empty())
        return value == std::round(value) ? grouped(value) : significant(value);
    return (unit == "runs" ? grouped(value) : significant(value)) + ' ' + unit;
}

std::string explained_summary(const Explanation& explanation)
{
    constexpr std::size_t kSummaryParts = 8;
    std::vector<std::string> lines;
    if (!explanation.formula.empty())
        lines.push_back(explanation.formula);
    std::vector<const Explanation*> parts;
    for (const Explanation& child : explanation.children)
        parts.push_back(&child);
    const auto size = [](const Explanation* part) { return std::abs(part->value.value_or(0)); };
    std::stable_sort(
        parts.begin(), parts.end(), [&](const Explanation* a, const Explanation* b) { return size(a) > size(b); });
    for (std::size_t i = 0; i < std::min(parts.size(), kSummaryParts); ++i)
        lines.push_back(explained_value(*parts[i]) + "  " + parts[i]->label);
    if (!explanation.source.empty())
        lines.push_back(explanation.source);
    return joined(lines, "\n");
}

} // namespace fourfold::view
