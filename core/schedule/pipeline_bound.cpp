// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/pipeline_bound.h"

#include <algorithm>

namespace fourfold {

void bound_ends(std::span<const BoundRun> runs, int micro_batches, bool leaves_as_it_came, std::vector<double>& ends)
{
    ends.resize(runs.size());
    double way = 0; // to the first stage of a run
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const BoundRun& run = runs[i];
        const int others = run.stages - 1;
        // The last stage of a run starts last; where the micro-batch leaves again, the first ends last.
        ends[i] = way + others * run.forward_s + micro_batches * run.busy_s
            + (leaves_as_it_came ? others * run.backward_s : 0);
        way += run.stages * run.forward_s;
    }
    for (std::size_t i = runs.size(); leaves_as_it_came && i-- > 1;)
        ends[i - 1] = std::max(ends[i - 1], ends[i] + runs[i - 1].stages * runs[i - 1].backward_s);
}

} // namespace fourfold
