// SPDX-License-Identifier: GPL-3.0-or-later
// Changing a plan: one field by its dotted path, its layout as a whole.
#include "core/plan/plan_edit.h"

#include "core/base/text.h"
#include "core/plan/fields.h"

#include <charconv>

namespace fourfold {

namespace {
std::vector<std::string> split(const std::string& path)
{
    std::vector<std::string> parts(1);
    for (const char c : path) {
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

bool is_index(const std::string& part)
{
    return !part.empty() && part.size() < 7 && part.find_first_not_of("0123456789") == std::string::npos;
}

// "run.data.0.path" -> "run.data[].path".
std::string pattern_of(const std::vector<std::string>& parts)
{
    std::string out;
    for (const std::string& part : parts) {
        if (const Field* field = find_field(out); field && field->type == FieldType::object_list && is_index(part))
            out += "[]";
        else
            out += (out.empty() ? "" : ".") + part;
    }
    return out;
}

// The object around `parts` whose keys the table does not list (model, stack, environment), or nullptr.
const Field* open_object_around(const std::vector<std::string>& parts)
{
    for (std::size_t depth = 1; depth < parts.size(); ++depth) {
        const auto end = parts.begin() + static_cast<std::ptrdiff_t>(depth);
        const Field* field = find_field(pattern_of({parts.begin(), end}));
        if (field
            && (field->type == FieldType::open_object || field->type == FieldType::id_or_open_object
                || field->type == FieldType::text_map))
            return field;
    }
    return nullptr;
}

bool holds_text(const Field* field, const Field* around)
{
    if (around)
        return around->type == FieldType::text_map;
    return field->type == FieldType::text || field->type == FieldType::choice || field->type == FieldType::schedule;
}

Problem unknown_field(const Plan& plan, const std::string& path)
{
    std::vector<std::string> known;
    for (const Field& field : plan_fields())
        known.push_back(field.path);
    std::vector<std::string> near = nearest_words(path, known, 3);
    for (std::string& one : near) { // lists are counted: run.data.0.path
        for (std::size_t at = one.find("[]"); at != std::string::npos; at = one.find("[]"))
            one.replace(at, 2, ".0");
    }
    return {ProblemCode::bad_input, "no such field of a plan: " + in_quotes(path),
        near.empty() ? "fields are written as in layout.tp" : "did you mean " + joined(near, " or ") + "?", plan.where};
}

Expected<Json> read_value(const std::string& value, bool text, const std::string& where)
{
    if (!is_utf8(value))
        return Problem{ProblemCode::bad_input, "the value is not UTF-8 text", "", where};
    Expected<Json> parsed = parse_json(value, where);
    // `--set name=8`: a text field takes anything that is not JSON text as it stands.
    if (!parsed || (text && !parsed->is_string() && !parsed->is_null()))
        return Json(value);
    return parsed;
}

Problem not_a_container(const Plan& plan, const std::string& path, const Json& found)
{
    const bool preset = found.is_string();
    return {ProblemCode::bad_input,
        preset ? "is the preset " + in_quotes(found.get_ref<const std::string&>()) + ", which has no fields to set"
               : "is " + std::string(found.type_name()) + ", which has no fields to set",
        preset ? "write the object itself into the plan" : "", at_field(plan.where, path)};
}
} // namespace

Expected<Plan> with_field(const Plan& plan, const std::string& path, const std::string& value)
{
    const std::vector<std::string> parts = split(path);
    const Field* field = find_field(pattern_of(parts));
    const Field* around = open_object_around(parts);
    if ((!field && !around) || path.substr(0, path.find('.', path.find("[]"))).ends_with("[]"))
        return unknown_field(plan, path);
    FOURFOLD_TRY(Json json, read_value(value, holds_text(field, around), at_field(plan.where, path)));

    Json document = plan.document;
    Json* at = &document;
    std::string seen;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        seen += (i == 0 ? "" : ".") + parts[i];
        Json* next = nullptr;
        if (at->is_array()) {
            std::size_t index = 0;
            std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), index);
            if (!is_index(parts[i]) || index >= at->size())
                return Problem{ProblemCode::bad_input,
                    "the list has " + std::to_string(at->size()) + (at->size() == 1 ? " entry" : " entries"), "",
                    at_field(plan.where, seen)};
            next = &(*at)[index];
        } else {
            next = &(*at)[parts[i]];
        }
        if (next->is_null() && !json.is_null())
            *next = Json::object();
        if (next->is_null())
            return plan; // nothing there to remove
        if (!next->is_object() && !next->is_array())
            return not_a_container(plan, seen, *next);
        at = next;
    }
    if (at->is_array())
        return not_a_container(plan, seen, *at);
    // null gives a field its default back.
    if (json.is_null())
        at->erase(parts.back());
    else
        (*at)[parts.back()] = std::move(json);
    return plan_from_json(std::move(document), plan.where);
}

Expected<Plan> with_assignment(const Plan& plan, const std::string& assignment)
{
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
        return Problem{ProblemCode::bad_input, "found " + in_quotes(assignment) + ", expected FIELD=VALUE",
            "for example layout.tp=4", plan.where};
    return with_field(plan, assignment.substr(0, equals), assignment.substr(equals + 1));
}

Expected<Plan> with_layout(const Plan& plan, const ResolvedPlan& layout)
{
    const Json resolved = to_json(layout, PresetStyle::ids);
    Json document = plan.document;
    document["gpus"] = layout.gpus;
    const auto object = [&document](const char* name) -> Json& {
        Json& member = document[name];
        if (!member.is_object())
            member = Json::object();
        return member;
    };
    const auto take = [&](const char* name, std::initializer_list<const char*> keys) {
        for (const char* key : keys) {
            if (resolved[name].contains(key))
                object(name)[key] = resolved[name][key];
        }
    };
    take("layout", {"tp", "cp", "pp", "dp", "ep", "virtual_stages", "order"});
    take("training", {"micro_batch", "global_batch", "schedule", "sharding", "recompute"});
    for (const char* follows : {"stage_layers", "dp_shard"}) // from the new degrees
        object("layout").erase(follows);
    object("training").erase("micro_batches");
    return plan_from_json(std::move(document), plan.where);
}

} // namespace fourfold
