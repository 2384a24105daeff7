// SPDX-License-Identifier: GPL-3.0-or-later
// Schedule files, whoever wrote them: what is accepted runs to its end, in both ways of timing it, and takes as long.
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_order.h"
#include "must.h"

#include <cmath>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    const auto file = parse_schedule_file(fuzz::text_of(data, size), "fuzz");
    if (!file)
        return 0;
    const std::size_t ranks = file->actions.size(), chunks = file->stage_of_chunk.size();
    fuzz::must(ranks > 0 && chunks >= ranks && file->micro_batches > 0);
    std::size_t passes = 0;
    for (const auto& list : file->actions)
        passes += list.size();
    fuzz::must(passes >= 2 * chunks * std::size_t(file->micro_batches));
    if (chunks % ranks != 0)
        return 0; // refused with the plan: each rank needs as many
    const ScheduleTimes times{std::vector<ChunkTimes>(chunks, {1, 2, 0.5}), 0.25};
    const int virtual_stages = int(chunks / ranks);
    const Timeline timeline = simulate(file->actions, times, virtual_stages);
    const ScheduleOrder order(file->actions, virtual_stages);
    fuzz::must(order.steps() == passes && timeline.spans.size() >= passes);
    fuzz::must(std::abs(order.time(times).length_s - timeline.length_s) <= 1e-9 * timeline.length_s);
    return 0;
}
