// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/steady_part.h"

#include <algorithm>

namespace fourfold {

std::optional<SteadyPart> steady_part(const Timeline& timeline, int missing)
{
    if (missing <= 0)
        return {};
    double last = 0; // end of the passes; the planner puts what it leaves out into their middle
    for (const Span& span : timeline.spans) {
        if (span.micro_batch >= 0)
            last = std::max(last, span.end_s);
    }
    SteadyPart steady{0, last, missing};
    for (const Span& span : timeline.spans) {
        if (span.start_s < last / 2)
            steady.begin_s = std::max(steady.begin_s, span.end_s);
        else
            steady.end_s = std::min(steady.end_s, span.start_s);
    }
    return steady.end_s > steady.begin_s ? std::optional(steady) : std::nullopt;
}

std::string steady_words(const SteadyPart& steady)
{
    std::string count = std::to_string(steady.micro_batches);
    for (int at = int(count.size()) - 3; at > 0; at -= 3)
        count.insert(std::size_t(at), ",");
    return count + (steady.micro_batches == 1 ? " more micro-batch" : " more micro-batches") + " like these";
}

} // namespace fourfold
