// SPDX-License-Identifier: GPL-3.0-or-later
// A resolved plan written as a plan file, every field explicit.
#include "core/plan/bound_fields.h"
#include "core/plan/resolve.h"

namespace fourfold {

Json training_json(const ResolvedPlan& plan)
{
    return write_bound(bound_plan_fields(), "training.", plan);
}

Json conventions_json(const Stack& stack)
{
    Json out = to_json(stack);
    for (const char* key : {"training_defaults", "constants", "gpu_constants", "fit", "releases"})
        out.erase(key);
    return out;
}

Json to_json(const ResolvedPlan& plan, PresetStyle style)
{
    const bool ids = style == PresetStyle::ids;
    Json out = {{"fourfold_plan", 1}, {"name", plan.name}};
    out["model"] = ids && !plan.model.id.empty() ? Json(plan.model.id) : config_from_model(plan.model);
    out["cluster"] = ids && !plan.cluster.id.empty() ? Json(plan.cluster.id) : to_json(plan.cluster);
    out["gpus"] = plan.gpus;
    if (ids)
        out["stack"] = plan.own_stack ? to_json(plan.stack) : Json(plan.stack.written());
    else
        out["stack"] = conventions_json(plan.stack);
    for (const char* part : {"layout", "training", "run"})
        out[part] = write_bound(bound_plan_fields(), std::string(part) + ".", plan);
    return out;
}

Expected<ResolvedPlan> read_resolved(const Json& document, const std::string& where)
{
    FOURFOLD_TRY(const Plan plan, plan_from_json(document, where));
    for (const char* key : {"model", "cluster", "stack"}) {
        if (!value_at(document, key).is_object())
            return Problem{ProblemCode::bad_input, std::string("expected the ") + key + " as an object",
                "this file is read without presets; write it with every preset inlined", where + ": " + key};
    }
    return resolve_with(plan, Presets(std::vector<std::filesystem::path>{}), IdPolicy::trust);
}

} // namespace fourfold
