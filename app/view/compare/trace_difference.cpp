// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/trace_difference.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/predict/term_off.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

namespace {
std::string from_to(double first, double second)
{
    const double difference = second - first;
    return duration(first) + " \u2192 " + duration(second) + " (" + (difference < 0 ? "-" : "+")
        + duration(std::abs(difference)) + ")";
}
} // namespace

std::string trace_difference(const ListedStep& first, const ListedStep& second, std::size_t most)
{
    if (first.timeline.spans.empty() || second.timeline.spans.empty())
        return {};
    std::vector<std::string> terms;
    const std::vector<TermOff> all = terms_off(first, second);
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
        terms.push_back(all[i].term + " " + from_to(all[i].predicted_s, all[i].measured_s));
    if (all.size() > most)
        terms.push_back(grouped(double(all.size() - most)) + " more");
    return "Step " + from_to(first.timeline.length_s, second.timeline.length_s)
        + ". An average stage: " + joined(terms, ", ");
}

} // namespace fourfold::view
