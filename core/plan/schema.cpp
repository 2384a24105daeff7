// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/fields.h"

#include "core/layout/layout.h"

#include <cmath>
#include <utility>

namespace fourfold {

namespace {
// Whole bounds without a decimal point.
Json bound(double value)
{
    constexpr double kTooLarge = 18446744073709551615.0;
    if (value >= kTooLarge)
        return std::numeric_limits<std::uint64_t>::max();
    return value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

void add_range(Json& out, const FieldRange& range)
{
    if (std::isfinite(range.minimum))
        out[range.above_minimum ? "exclusiveMinimum" : "minimum"] = bound(range.minimum);
    if (std::isfinite(range.maximum))
        out[range.below_maximum ? "exclusiveMaximum" : "maximum"] = bound(range.maximum);
}

// null counts as absent.
Json types(std::vector<std::string> names, bool required)
{
    if (!required)
        names.emplace_back("null");
    return names.size() == 1 ? Json(names.front()) : Json(names);
}

Json words(const Field& field)
{
    Json out = field.choices;
    if (!field.required)
        out.push_back(nullptr);
    return out;
}

Json list_of(const Field& field, Json items)
{
    Json out{{"type", types({"array"}, field.required)}};
    add_range(items, field);
    out["items"] = std::move(items);
    return out;
}

Json value_schema(const Field& field)
{
    const auto typed = [&](std::vector<std::string> names) {
        return Json{{"type", types(std::move(names), field.required)}};
    };
    switch (field.type) {
    case FieldType::text: {
        Json out = typed({"string"});
        if (field.required)
            out["minLength"] = 1;
        return out;
    }
    case FieldType::integer:
        return typed({"integer"});
    case FieldType::number:
        return typed({"number"});
    case FieldType::boolean:
        return typed({"boolean"});
    case FieldType::choice:
        return {{"enum", words(field)}};
    case FieldType::schedule:
        return {{"anyOf", {{{"enum", words(field)}}, {{"type", "string"}, {"pattern", "^.+\\.csv$"}}}}};
    case FieldType::object:
        return typed({"object"});
    case FieldType::text_map: {
        Json out = typed({"object"});
        out["additionalProperties"] = {{"type", "string"}};
        return out;
    }
    case FieldType::id_or_object:
    case FieldType::id_or_open_object:
        return typed({"string", "object"});
    case FieldType::integer_list:
        return list_of(field, {{"type", "integer"}});
    case FieldType::word_list: {
        Json out = list_of(field, {{"enum", field.choices}});
        out["uniqueItems"] = true;
        return out;
    }
    case FieldType::number_pair: {
        Json out = list_of(field, {{"type", "number"}});
        out["minItems"] = out["maxItems"] = 2;
        return out;
    }
    case FieldType::order: {
        Json out = list_of(field, {{"enum", spellings<Dimension>()}});
        out["minItems"] = out["maxItems"] = kDimensions.size();
        out["uniqueItems"] = true;
        return out;
    }
    case FieldType::object_list:
        return list_of(field, {{"type", "object"}});
    case FieldType::open_object:
        break;
    }
    return Json::object();
}

// The schema of the object in which the last key of `path` stands, and that key.
std::pair<Json*, std::string> place_of(Json& schema, const std::string& path)
{
    Json* at = &schema;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = path.find('.', begin)) != std::string::npos; begin = dot + 1) {
        const std::string part = path.substr(begin, dot - begin);
        const bool list = part.ends_with("[]");
        at = &(*at)["properties"][list ? part.substr(0, part.size() - 2) : part];
        if (list)
            at = &(*at)["items"];
    }
    return {at, path.substr(begin)};
}
} // namespace

Json plan_schema()
{
    Json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", "urn:fourfold:plan:1"},
        {"title", "Fourfold plan file"},
        {"description",
            "What a person saves, opens, compares and launches (*.plan.json). null counts as absent. Keys that are not "
            "listed are kept and reported."},
        {"type", "object"}};
    for (const Field& field : plan_fields()) {
        Json schema = Json::object();
        if (!field.help.empty())
            schema["description"] = field.help;
        schema.update(value_schema(field));
        if (field.type == FieldType::integer || field.type == FieldType::number)
            add_range(schema, field);
        const auto [object, key] = place_of(out, field.path);
        (*object)["properties"][key] = std::move(schema);
        if (field.required)
            (*object)["required"].push_back(key);
    }
    return out;
}

} // namespace fourfold
