// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/any_field.h"

#include "app/view/plan/data_files.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/integer_list.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold::view {

namespace {
bool is_within(const std::string& path, std::string_view object)
{
    return path.starts_with(object) && path.size() > object.size() && path[object.size()] == '.';
}

// Of a preset there is nothing to set in the plan's file.
bool is_there(const Field& field, const Json& document)
{
    if (field.path == "fourfold_plan" || field.type == FieldType::object || field.type == FieldType::open_object)
        return false;
    for (const char* object : {"cluster", "cluster.gpu"}) {
        if (is_within(field.path, object) && !value_at(document, object).is_object())
            return false;
    }
    return true;
}

// "run.data.0.weight" -> "run.data[].weight"
const Field* field_of(const std::string& path)
{
    for (const char* list : {"run.data", "run.eval.data"}) {
        const std::size_t at = std::string_view(list).size() + 1;
        const std::size_t dot = is_within(path, list) ? path.find('.', at) : std::string::npos;
        if (dot != std::string::npos)
            return find_field(std::string(list) + "[]" + path.substr(dot));
    }
    return find_field(path);
}

std::vector<std::string> words_of(const std::string& text)
{
    std::vector<std::string> words;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(',', from), text.size());
        if (const auto word = trimmed(std::string_view(text).substr(from, end - from)); !word.empty())
            words.emplace_back(word);
        from = end + 1;
    }
    return words;
}

// As JSON, or else the text, which the plan then says is none.
Json json_or_text(const std::string& text)
{
    const Expected<Json> json = parse_json(text, "");
    return json ? *json : Json(text);
}

Json number_in(std::string text)
{
    std::erase(text, ','); // 8,192
    return json_or_text(text);
}

Json truth_in(const std::string& text)
{
    const std::string word = lower_case(text);
    if (word == "yes" || word == "on" || word == "true")
        return true;
    if (word == "no" || word == "off" || word == "false")
        return false;
    return text;
}

// "NCCL_ALGO=Ring, NCCL_DEBUG=WARN"
Json variables_in(const std::string& text)
{
    Json map = Json::object();
    for (const std::string& word : words_of(text)) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            return text;
        map[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return map;
}

bool is_plain_variable(const Json& value)
{
    return value.is_string() && value.get_ref<const std::string&>().find(',') == std::string::npos
        && trimmed(value.get_ref<const std::string&>()) == value.get_ref<const std::string&>();
}

std::string text_of_value(const Field& field, const Json& value)
{
    if (value.is_null())
        return {};
    if (value.is_boolean())
        return value.get<bool>() ? "yes" : "no";
    if (value.is_string())
        return value.get<std::string>();
    if (field.type == FieldType::object_list)
        return data_text(value);
    std::vector<std::string> words;
    if (field.type == FieldType::text_map && value.is_object()
        && std::all_of(value.begin(), value.end(), is_plain_variable)) {
        for (const auto& [key, variable] : value.items())
            words.push_back(key + "=" + variable.get<std::string>());
    } else if (value.is_array()) {
        for (const Json& entry : value)
            words.push_back(entry.is_string() ? entry.get<std::string>() : entry.dump());
    } else {
        return value.dump();
    }
    return joined(words, ", ");
}

AnyField any_field(const Field& field, const std::string& path, const Json& written, const Json& otherwise)
{
    AnyField out{path, field.help, text_of_value(field, written), text_of_value(field, otherwise), field.choices};
    if (field.type == FieldType::boolean)
        out.choices = {"yes", "no"};
    else if (field.type == FieldType::word_list)
        out.choices.clear(); // several of them
    return out;
}
} // namespace

std::vector<AnyField> any_fields(const Plan& plan, const ResolvedPlan* resolved)
{
    const Json usual = resolved != nullptr ? to_json(*resolved, PresetStyle::ids) : Json();
    std::vector<AnyField> out;
    for (const Field& field : plan_fields()) {
        if (!is_there(field, plan.document))
            continue;
        const std::size_t list = field.path.find("[]");
        if (list == std::string::npos) {
            out.push_back(
                any_field(field, field.path, value_at(plan.document, field.path), value_at(usual, field.path)));
            continue;
        }
        const Json& files = value_at(plan.document, field.path.substr(0, list));
        for (std::size_t i = 0; i < (files.is_array() ? files.size() : 0); ++i) {
            const std::string key = field.path.substr(list + 3);
            out.push_back(any_field(field, field.path.substr(0, list) + "." + std::to_string(i) + "." + key,
                value_at(files[i], key), Json()));
        }
    }
    return out;
}

Expected<Plan> with_any_field(const Plan& plan, const std::string& path, const std::string& text)
{
    const std::string line(trimmed(text));
    const Field* field = field_of(path);
    Json value;
    if (field == nullptr || line.empty() || line.front() == '{' || line.front() == '[') {
        value = line.empty() ? Json() : json_or_text(line);
    } else {
        switch (field->type) {
        case FieldType::integer:
        case FieldType::number:
            value = number_in(line);
            break;
        case FieldType::boolean:
            value = truth_in(line);
            break;
        case FieldType::text_map:
            value = variables_in(line);
            break;
        case FieldType::integer_list: {
            FOURFOLD_TRY(value, parse_integer_list(path, line));
            break;
        }
        case FieldType::number_pair:
            for (const std::string& word : words_of(line))
                value.push_back(json_or_text(word));
            break;
        case FieldType::word_list:
        case FieldType::order:
            for (const std::string& word : words_of(line))
                value.push_back(word);
            break;
        case FieldType::object_list: {
            FOURFOLD_TRY(value, parse_data(path, line, value_at(plan.document, path)));
            break;
        }
        default:
            value = line;
        }
    }
    if (field != nullptr && field->type == FieldType::object_list)
        FOURFOLD_CHECK(check_data_files(plan, path, value));
    // A field of a list's entry is reached by its number.
    FOURFOLD_TRY(Plan changed,
        find_field(path) != nullptr ? with_value(plan, path, value) : with_field(plan, path, value.dump()));
    const auto in_range = [](const Plan& of) { return check_ranges(of.document, "", of.where, ""); };
    if (in_range(plan)) // else there is something else to mend as well
        FOURFOLD_CHECK(in_range(changed));
    return changed;
}

} // namespace fourfold::view
