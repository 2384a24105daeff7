// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/fields.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace fourfold {

namespace {
std::string shown(const Json& json)
{
    if (json.is_object())
        return "an object";
    if (json.is_array())
        return "a list";
    if (json.is_string())
        return in_quotes(json.get_ref<const std::string&>());
    return printable(json.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

std::string plain_number(double value)
{
    return text_of("%.15g", value);
}

Problem unexpected(const Json& json, const std::string& expected, const std::string& file, const std::string& path)
{
    return {ProblemCode::bad_input, "found " + shown(json) + ", expected " + expected, "", at_field(file, path)};
}

Expected<void> check_spelling(const Json& json, const Field& field, const std::string& file, const std::string& path)
{
    const bool schedule = field.type == FieldType::schedule;
    const std::string expected
        = "one of " + joined(field.choices, ", ") + (schedule ? ", or the name of a .csv schedule file" : "");
    if (!json.is_string())
        return unexpected(json, expected, file, path);
    const auto& text = json.get_ref<const std::string&>();
    if (std::find(field.choices.begin(), field.choices.end(), text) != field.choices.end())
        return {};
    if (schedule && text.size() > 4 && text.ends_with(".csv"))
        return {};
    Problem problem = unexpected(json, expected, file, path);
    if (const auto near = nearest_words(text, field.choices, 1); !near.empty())
        problem.hint = "did you mean " + near.front() + "?";
    return problem;
}

bool is_order(const Json& json)
{
    if (!json.is_array() || json.size() != 4)
        return false;
    std::set<std::string> seen;
    for (const Json& entry : json) {
        if (!entry.is_string())
            return false;
        seen.insert(entry.get<std::string>());
    }
    return seen == std::set<std::string>{"tp", "cp", "pp", "dp"};
}

// What the type wants, empty when `json` is that.
std::string type_error(const Json& json, FieldType type)
{
    const auto all = [&](auto test) { return json.is_array() && std::all_of(json.begin(), json.end(), test); };
    const auto is_integer = [](const Json& value) { return value.is_number_integer(); };
    const auto is_text = [](const Json& value) { return value.is_string(); };
    const auto is_number = [](const Json& value) { return value.is_number(); };
    const auto is_object = [](const Json& value) { return value.is_object(); };
    switch (type) {
    case FieldType::text:
        return json.is_string() ? "" : "text in quotes";
    case FieldType::integer:
        return is_integer(json) ? "" : "an integer";
    case FieldType::number:
        return is_number(json) ? "" : "a number";
    case FieldType::boolean:
        return json.is_boolean() ? "" : "true or false";
    case FieldType::order:
        return is_order(json) ? "" : R"(the four dimensions, innermost first, such as ["tp","cp","pp","dp"])";
    case FieldType::object:
        return json.is_object() ? "" : "an object";
    case FieldType::text_map:
        return json.is_object() ? "" : "an object of names and texts";
    case FieldType::id_or_object:
    case FieldType::id_or_open_object:
        return json.is_string() || json.is_object() ? "" : "a preset's id or an object";
    case FieldType::integer_list:
        return all(is_integer) ? "" : "a list of integers";
    case FieldType::word_list:
        return all(is_text) ? "" : "a list of words";
    case FieldType::number_pair:
        return json.size() == 2 && all(is_number) ? "" : "a list of two numbers";
    case FieldType::object_list:
        return all(is_object) ? "" : "a list of objects";
    case FieldType::open_object:
    case FieldType::choice:
    case FieldType::schedule:
        break;
    }
    return "";
}

// Calls visit(field, value, path) for each known key below an object, depth first; unknown(path) for the others.
template <typename Visit, typename Unknown>
Expected<void> walk(
    const Json& json, const std::string& pattern, const std::string& path, const Visit& visit, const Unknown& unknown)
{
    const auto descend
        = [](const std::string& parent, const std::string& key) { return parent.empty() ? key : parent + "." + key; };
    for (const auto& [key, value] : json.items()) {
        const std::string child_path = descend(path, key);
        const std::string child_pattern = descend(pattern, key);
        // A key like "layout.tp" is no way to a field, though it is spelt like one: nothing would read it.
        const bool odd = key.empty() || key.find('.') != std::string::npos;
        const Field* field = odd ? nullptr : find_field(child_pattern);
        if (!field) {
            unknown(odd ? descend(path, in_quotes(key)) : child_path);
            continue;
        }
        if (value.is_null())
            continue;
        FOURFOLD_CHECK(visit(*field, value, child_path));
        const bool keyed = field->type == FieldType::object || field->type == FieldType::id_or_object;
        if (keyed && value.is_object())
            FOURFOLD_CHECK(walk(value, child_pattern, child_path, visit, unknown));
        if (field->type == FieldType::object_list) {
            for (std::size_t i = 0; i < value.size(); ++i)
                FOURFOLD_CHECK(
                    walk(value[i], child_pattern + "[]", child_path + "." + std::to_string(i), visit, unknown));
        }
    }
    return {};
}

std::string range_text(const Field& field)
{
    std::string out;
    if (field.minimum > -std::numeric_limits<double>::infinity())
        out += (field.above_minimum ? "more than " : "at least ") + plain_number(field.minimum);
    if (field.maximum < std::numeric_limits<double>::infinity())
        out += std::string(out.empty() ? "" : " and ") + (field.below_maximum ? "less than " : "at most ")
            + plain_number(field.maximum);
    return out;
}

Expected<void> check_range(const Json& json, const Field& field, const std::string& file, const std::string& path)
{
    const double value = json.get<double>();
    const bool low = field.above_minimum ? value <= field.minimum : value < field.minimum;
    const bool high = field.below_maximum ? value >= field.maximum : value > field.maximum;
    if (low || high)
        return unexpected(json, range_text(field), file, path);
    return {};
}
} // namespace

std::string at_field(const std::string& file, const std::string& field)
{
    return file + (file.empty() || field.empty() ? "" : ": ") + printable(field);
}

const Field* find_field(const std::string& pattern)
{
    static const auto kIndex = [] {
        std::map<std::string, const Field*> index;
        for (const Field& field : plan_fields())
            index.emplace(field.path, &field);
        return index;
    }();
    const auto found = kIndex.find(pattern);
    return found == kIndex.end() ? nullptr : found->second;
}

const Json& value_at(const Json& object, const std::string& path)
{
    static const Json kNull;
    const std::size_t dot = path.find('.');
    if (!object.is_object())
        return kNull;
    const auto found = object.find(path.substr(0, dot));
    if (found == object.end())
        return kNull;
    return dot == std::string::npos ? *found : value_at(*found, path.substr(dot + 1));
}

void set_value_at(Json& object, const std::string& path, Json value)
{
    const std::size_t dot = path.find('.');
    Json& member = object[path.substr(0, dot)];
    if (dot == std::string::npos)
        member = std::move(value);
    else
        set_value_at(member, path.substr(dot + 1), std::move(value));
}

Expected<void> check_types(const Json& json, const std::string& pattern, const std::string& file,
    const std::string& path, std::vector<std::string>* unknown_keys)
{
    const auto visit = [&](const Field& field, const Json& value, const std::string& at) -> Expected<void> {
        if (field.type == FieldType::choice || field.type == FieldType::schedule)
            return check_spelling(value, field, file, at);
        if (const std::string expected = type_error(value, field.type); !expected.empty())
            return unexpected(value, expected, file, at);
        if (field.type == FieldType::word_list) {
            for (std::size_t i = 0; i < value.size(); ++i)
                FOURFOLD_CHECK(check_spelling(value[i], field, file, at + "." + std::to_string(i)));
        }
        if (field.type == FieldType::text_map) {
            for (const auto& [key, entry] : value.items()) {
                if (!entry.is_string())
                    return unexpected(entry, "text in quotes", file, at + "." + key);
            }
        }
        return {};
    };
    return walk(json, pattern, path, visit, [&](const std::string& at) {
        if (unknown_keys)
            unknown_keys->push_back(at);
    });
}

Expected<void> check_ranges(
    const Json& json, const std::string& pattern, const std::string& file, const std::string& path)
{
    const auto visit = [&](const Field& field, const Json& value, const std::string& at) -> Expected<void> {
        switch (field.type) {
        case FieldType::integer:
        case FieldType::number:
            return check_range(value, field, file, at);
        case FieldType::integer_list:
        case FieldType::number_pair:
            for (std::size_t i = 0; i < value.size(); ++i)
                FOURFOLD_CHECK(check_range(value[i], field, file, at + "." + std::to_string(i)));
            return {};
        default:
            return {};
        }
    };
    return walk(json, pattern, path, visit, [](const std::string&) {});
}

} // namespace fourfold
