// SPDX-License-Identifier: GPL-3.0-or-later
// Plans, whoever wrote them: each is refused with a reason or has an answer, and what the answer says can be read back.
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "must.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    static const Presets kPresets;
    const auto plan = parse_plan(fuzz::text_of(data, size), "fuzz");
    if (!plan)
        return 0;
    const auto written = parse_plan(to_text(*plan), "fuzz");
    fuzz::must(written && written->document == plan->document);
    const auto resolved = resolve(*plan, kPresets);
    if (!resolved)
        return 0;
    const std::vector<Reason> reasons = check(*resolved);
    // Longer pipelines take their time, and nothing else.
    if (resolved->layout.pp * resolved->layout.virtual_stages > 64)
        return 0;
    const Prediction prediction = predict(*resolved);
    fuzz::must(prediction.feasible ? reasons.empty() && prediction.step_time_s : !prediction.reasons.empty());
    fuzz::must(prediction.reasons.size() >= reasons.size());
    const auto again = parse_json(to_json(prediction).dump(-1, ' ', false, Json::error_handler_t::replace), "fuzz");
    fuzz::must(again && prediction_from_json(*again, "fuzz"));
    return 0;
}
