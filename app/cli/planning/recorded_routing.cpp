// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/recorded_routing.h"

#include "core/base/input_file.h"
#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace fourfold::cli {

Expected<double> recorded_imbalance(const std::string& file, const ResolvedPlan& plan)
{
    constexpr std::size_t kMostLineBytes = 16u << 20;
    constexpr const char* kHint
        = "give the events.jsonl of a run with several expert-parallel ranks, or a share as 0.95";
    std::ifstream events(file);
    if (!events)
        return Problem{ProblemCode::not_found, "cannot be read", kHint, file};
    std::optional<double> busiest;
    std::string line;
    bool whole = true;
    for (std::size_t number = 1; read_line(events, line, kMostLineBytes, whole); ++number) {
        const std::string place = file + ", line " + std::to_string(number);
        if (!whole)
            return Problem{ProblemCode::bad_input, "is longer than any event", kHint, place};
        if (line.find("\"busiest_rank\"") == std::string::npos)
            continue;
        FOURFOLD_TRY(const Json event, parse_json(line, place));
        const Json experts = event.value("experts", Json());
        if (!experts.is_object() || !experts.contains("busiest_rank") || !experts["busiest_rank"].is_number()
            || !experts.contains("ranks") || !experts["ranks"].is_number_integer())
            return Problem{ProblemCode::bad_input, "is no step event of the bundled trainer", kHint, place};
        if (const auto ranks = experts["ranks"].get<int64_t>(); ranks != plan.layout.ep)
            return Problem{ProblemCode::bad_input,
                text_of("is of %lld expert-parallel ranks, the plan has %d: what each of these gets is not in it",
                    static_cast<long long>(ranks), plan.layout.ep),
                kHint, place};
        busiest = std::max(busiest.value_or(0), experts["busiest_rank"].get<double>());
    }
    if (!busiest)
        return Problem{ProblemCode::bad_input, "no event tells how expert-parallel ranks were loaded", kHint, file};
    return std::clamp(*busiest - 1, 0.0, plan.layout.ep - 1.0);
}

} // namespace fourfold::cli
