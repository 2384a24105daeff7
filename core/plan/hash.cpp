// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/sha256.h"
#include "core/plan/plan.h"

namespace fourfold {

namespace {
// Sorted keys and objects in place of ids: a preset and its copy in the plan are the same input. Names are for
// people; the GPU keeps its id because fitted constants hang on it.
nlohmann::json canonical(const ResolvedPlan& plan)
{
    nlohmann::json out = to_json(plan, PresetStyle::inlined);
    out.erase("name");
    for (const char* key : {"model", "cluster"}) {
        out[key].erase("id");
        out[key].erase("name");
    }
    if (out["cluster"].contains("gpu"))
        out["cluster"]["gpu"].erase("name");
    out["stack"] = plan.stack.written();
    out["padded_vocab"] = plan.padded_vocab;
    return out;
}

std::string hashed(const nlohmann::json& json)
{
    return sha256_hex(json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}
} // namespace

std::string plan_hash(const ResolvedPlan& plan)
{
    return hashed(canonical(plan));
}

std::string layout_hash(const ResolvedPlan& plan)
{
    nlohmann::json out = canonical(plan);
    out.erase("run");
    return hashed(out);
}

} // namespace fourfold
