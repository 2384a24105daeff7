// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/bound_words.h"

#include "app/view/text.h"

#include <cmath>

namespace fourfold::view {

std::string bound_name(const LinkBound& link)
{
    return upper_case(link.parallelism) + ", " + counted(link.ranks, "rank") + " over the "
        + std::string(name(link.link));
}

std::string bound_condition(const LinkBound& link)
{
    const double communication = link.bound.communication_s(link.batch), compute = link.bound.compute_s(link.batch);
    const std::string times = "communication " + duration(communication)
        + (communication <= compute ? " \u2264 " : " > ") + "compute " + duration(compute);
    const std::optional<double> least = link.bound.least_batch();
    if (!least)
        return times + "; no micro-batch is large enough";
    if (*least < 1)
        return times + ", at any micro-batch";
    return times + ", from " + counted(std::ceil(*least), "sequence") + " on";
}

std::string bound_terms(const LinkBound& link)
{
    const OverlapBound& bound = link.bound;
    return "latency " + duration(bound.latency_s) + ", at any batch " + duration(bound.transfer_s) + ", per sequence "
        + duration(bound.transfer_s_per_sequence) + "; compute per sequence " + duration(bound.compute_s_per_sequence)
        + "\nlatency + transfer \u2264 batch \u00d7 (compute \u2212 transfer of a sequence)";
}

} // namespace fourfold::view
