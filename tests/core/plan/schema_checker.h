// SPDX-License-Identifier: GPL-3.0-or-later
// The part of JSON Schema (draft 2020-12) that plan.schema.json uses. Integers are strict: 8.0 is not one.
#pragma once

#include "core/base/json.h"

#include <algorithm>
#include <regex>
#include <set>
#include <string>

namespace fourfold::test {

inline bool has_type(const Json& value, const std::string& type)
{
    if (type == "integer")
        return value.is_number_integer();
    if (type == "number")
        return value.is_number();
    if (type == "string")
        return value.is_string();
    if (type == "boolean")
        return value.is_boolean();
    if (type == "object")
        return value.is_object();
    if (type == "array")
        return value.is_array();
    return type == "null" && value.is_null();
}

// The keywords that this checker knows; a test makes sure that the schema uses no others.
inline const std::set<std::string>& schema_keywords()
{
    static const std::set<std::string> kKeywords{"$schema", "$id", "title", "description", "type", "enum", "anyOf",
        "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "uniqueItems", "minimum",
        "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern", "minLength"};
    return kKeywords;
}

inline bool matches(const Json& schema, const Json& value)
{
    if (schema.is_boolean()) // true allows everything, false nothing
        return schema.get<bool>();
    const auto has = [&](const char* keyword) { return schema.contains(keyword); };
    const auto list = [](const Json& one_or_many) {
        return one_or_many.is_array() ? one_or_many.get<std::vector<std::string>>()
                                      : std::vector<std::string>{one_or_many.get<std::string>()};
    };
    if (has("type")) {
        const auto types = list(schema["type"]);
        if (std::none_of(types.begin(), types.end(), [&](const std::string& type) { return has_type(value, type); }))
            return false;
    }
    if (has("enum") && std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
        return false;
    if (has("anyOf") && std::none_of(schema["anyOf"].begin(), schema["anyOf"].end(), [&](const Json& branch) {
            return matches(branch, value);
        }))
        return false;
    if (value.is_number()) {
        const double number = value.get<double>();
        if ((has("minimum") && number < schema["minimum"].get<double>())
            || (has("maximum") && number > schema["maximum"].get<double>())
            || (has("exclusiveMinimum") && number <= schema["exclusiveMinimum"].get<double>())
            || (has("exclusiveMaximum") && number >= schema["exclusiveMaximum"].get<double>()))
            return false;
    }
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        if ((has("pattern") && !std::regex_search(text, std::regex(schema["pattern"].get<std::string>())))
            || (has("minLength") && text.size() < schema["minLength"].get<std::size_t>()))
            return false;
    }
    if (value.is_array()) {
        if ((has("minItems") && value.size() < schema["minItems"].get<std::size_t>())
            || (has("maxItems") && value.size() > schema["maxItems"].get<std::size_t>()))
            return false;
        if (has("uniqueItems") && std::set<Json>(value.begin(), value.end()).size() != value.size())
            return false;
        if (has("items") && !std::all_of(value.begin(), value.end(), [&](const Json& entry) {
                return matches(schema["items"], entry);
            }))
            return false;
    }
    if (value.is_object()) {
        if (has("required") && !std::all_of(schema["required"].begin(), schema["required"].end(), [&](const Json& key) {
                return value.contains(key.get<std::string>());
            }))
            return false;
        for (const auto& [key, entry] : value.items()) {
            const Json* below = nullptr;
            if (has("properties") && schema["properties"].contains(key))
                below = &schema["properties"][key];
            else if (has("additionalProperties"))
                below = &schema["additionalProperties"];
            if (below && !matches(*below, entry))
                return false;
        }
    }
    return true;
}

} // namespace fourfold::test
