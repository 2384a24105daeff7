// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/fit_set.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <set>

namespace fourfold {
namespace {

Expected<double> number(const Fields& fields, const std::string& key)
{
    if (!fields.has(key))
        return fields.missing(key, "a number");
    const Json& value = fields.json()[key];
    if (!value.is_number() || !std::isfinite(value.get<double>()))
        return fields.wrong(key, "a number");
    return value.get<double>();
}

bool is_constant(const std::string& name)
{
    return std::any_of(kConstantTable.begin(), kConstantTable.end(),
        [&](const ConstantInfo& constant) { return constant.name == name && constant.id > Constant::one; });
}

Problem unknown_constant(const Fields& fields, const std::string& name)
{
    std::vector<std::string> known;
    for (const ConstantInfo& constant : kConstantTable)
        known.emplace_back(constant.name);
    const auto near = nearest_words(name, known, 1);
    return fields.problem(
        name, "is no constant of the cost model", near.empty() ? "" : "did you mean " + near.front() + "?");
}

Expected<FittedConstant> read_constant(const Fields& fields, const std::string& name)
{
    FittedConstant constant;
    constant.name = name;
    FOURFOLD_TRY(constant.prior, number(fields, "prior"));
    FOURFOLD_TRY(constant.width, fields.positive("width"));
    FOURFOLD_TRY(constant.linear, fields.boolean_or("linear", false));
    FOURFOLD_TRY(constant.stays, fields.boolean_or("stays", false));
    if (fields.has("overall")) {
        FOURFOLD_TRY(constant.overall, number(fields, "overall"));
    }
    const std::string expected = "a list of two numbers, lowest and highest value";
    if (!fields.has("bounds"))
        return fields.missing("bounds", expected);
    const Json& bounds = fields.json()["bounds"];
    if (!bounds.is_array() || bounds.size() != 2 || !bounds[0].is_number() || !bounds[1].is_number())
        return fields.wrong("bounds", expected);
    constant.low = bounds[0].get<double>();
    constant.high = bounds[1].get<double>();
    if (!(constant.low < constant.high))
        return fields.wrong("bounds", expected);
    if (constant.prior < constant.low || constant.prior > constant.high)
        return fields.wrong("prior", "a number within the bounds");
    if (!constant.linear && constant.low <= 0)
        return fields.wrong("bounds", "a lowest value above 0, or \"linear\": true");
    return constant;
}

Expected<std::vector<FittedConstant>> read_constants(
    const Fields& set, const std::string& key, std::set<std::string>& seen)
{
    std::vector<FittedConstant> constants;
    if (!set.has(key))
        return constants;
    FOURFOLD_TRY(const Fields fields, set.object(key));
    for (const auto& [name, value] : fields.json().items()) {
        if (!is_constant(name))
            return unknown_constant(fields, name);
        if (!seen.insert(name).second)
            return fields.problem(name, "is fitted twice in this set, expected once");
        FOURFOLD_TRY(const Fields one, fields.object(name));
        FOURFOLD_TRY(auto constant, read_constant(one, name));
        constants.push_back(std::move(constant));
    }
    return constants;
}

Json to_json(const std::vector<FittedConstant>& constants)
{
    Json json = Json::object();
    for (const FittedConstant& constant : constants) {
        Json& one = json[constant.name]
            = {{"prior", constant.prior}, {"width", constant.width}, {"bounds", {constant.low, constant.high}}};
        if (constant.linear)
            one["linear"] = true;
        if (constant.stays)
            one["stays"] = true;
        if (constant.overall != 0)
            one["overall"] = constant.overall;
    }
    return json;
}

} // namespace

Expected<std::vector<FitSet>> fit_sets_from_json(const Json& json, const std::string& where)
{
    if (!json.is_array())
        return Problem{ProblemCode::bad_input, "expected a list of sets of fitted constants", "", where};
    std::vector<FitSet> sets;
    for (std::size_t i = 0; i < json.size(); ++i) {
        FOURFOLD_TRY(const Fields fields, Fields::of(json[i], where + "[" + std::to_string(i) + "]"));
        FitSet set;
        FOURFOLD_TRY(set.name, fields.name("name"));
        FOURFOLD_TRY(set.overall_width, fields.non_negative_or("overall_width", 0));
        if (fields.has("gpus")) {
            const Json& list = fields.json()["gpus"];
            const bool texts = list.is_array()
                && std::all_of(list.begin(), list.end(), [](const Json& id) { return id.is_string(); });
            if (!texts)
                return fields.wrong("gpus", "a list of GPU ids");
            for (const Json& id : list)
                set.gpus.push_back(id.get<std::string>());
        }
        std::set<std::string> seen;
        FOURFOLD_TRY(set.shared, read_constants(fields, "shared", seen));
        FOURFOLD_TRY(set.per_gpu, read_constants(fields, "per_gpu", seen));
        FOURFOLD_TRY(set.memory, read_constants(fields, "memory", seen));
        sets.push_back(std::move(set));
    }
    return sets;
}

Json to_json(const std::vector<FitSet>& sets)
{
    Json json = Json::array();
    for (const FitSet& set : sets) {
        Json one = {{"name", set.name}};
        if (!set.gpus.empty())
            one["gpus"] = set.gpus;
        if (set.overall_width > 0)
            one["overall_width"] = set.overall_width;
        if (!set.shared.empty())
            one["shared"] = to_json(set.shared);
        if (!set.per_gpu.empty())
            one["per_gpu"] = to_json(set.per_gpu);
        if (!set.memory.empty())
            one["memory"] = to_json(set.memory);
        json.push_back(std::move(one));
    }
    return json;
}

const FitSet* fit_set_for(const std::vector<FitSet>& sets, const std::string& gpu_id)
{
    for (const FitSet& set : sets) {
        if (std::find(set.gpus.begin(), set.gpus.end(), gpu_id) != set.gpus.end())
            return &set;
    }
    return sets.empty() ? nullptr : &sets.front();
}

} // namespace fourfold
