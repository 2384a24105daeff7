// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/event_schema.h"

#include <algorithm>
#include <stdexcept>

namespace fourfold::testing {

namespace {
const Json& schema()
{
    static const Json document = [] {
        auto read = read_json_file(std::filesystem::path(FOURFOLD_SOURCE_DIR) / "resources/schemas/events.schema.json");
        if (!read)
            throw std::runtime_error(read.error().line());
        return *std::move(read);
    }();
    return document;
}

bool has_type(const Json& value, const std::string& type)
{
    return (type == "integer" && value.is_number_integer()) || (type == "number" && value.is_number())
        || (type == "string" && value.is_string()) || (type == "null" && value.is_null())
        || (type == "object" && value.is_object()) || (type == "array" && value.is_array());
}

bool type_fits(const Json& value, Json rule)
{
    if (rule.contains("$ref")) {
        const std::string name = rule["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
        rule = schema()["$defs"].at(name);
    }
    if (!rule.contains("type"))
        return true;
    const Json types = rule["type"].is_array() ? rule["type"] : Json::array({rule["type"]});
    return std::ranges::any_of(types, [&](const Json& type) { return has_type(value, type.get<std::string>()); });
}
} // namespace

std::string schema_violation(const Json& event)
{
    const Json& rules = schema()["$defs"].at(event.at("event").get<std::string>());
    for (const Json& source : {schema()["required"], rules.value("required", Json::array())})
        for (const Json& key : source)
            if (!event.contains(key.get<std::string>()))
                return "missing: " + key.get<std::string>();
    for (const auto& [key, value] : event.items()) {
        const Json& properties = rules["properties"].contains(key) ? rules["properties"] : schema()["properties"];
        if (!properties.contains(key))
            return "not in the schema: " + key;
        if (!type_fits(value, properties[key]))
            return "wrong type: " + key + " = " + value.dump();
    }
    return "";
}

} // namespace fourfold::testing
