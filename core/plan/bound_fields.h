// SPDX-License-Identifier: GPL-3.0-or-later
// A key of a file together with the member that it is written from and read into. Type and words follow from the
// member.
#pragma once

#include "core/layout/layout.h"
#include "core/plan/fields.h"
#include "core/plan/plan.h"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

namespace fourfold {

template <typename Root>
struct BoundField : Field {
    // Sets the member; precondition: type and range have been checked. Empty where no member stands behind the key.
    std::function<void(const Json&, Root&)> read{};
    std::function<Json(const Root&)> write{}; // null: nothing to write
};

// How a member's type is written.
template <typename T>
struct Codec {
    static constexpr FieldType kType = std::is_same_v<T, bool> ? FieldType::boolean
        : std::is_integral_v<T>                                ? FieldType::integer
        : std::is_floating_point_v<T>                          ? FieldType::number
                                                               : FieldType::text;
    static void read(const Json& json, T& value) { value = json.get<T>(); }
    static Json write(const T& value) { return value; }
};
template <Spelled Enum>
struct Codec<Enum> {
    static constexpr FieldType kType = FieldType::choice;
    static void read(const Json& json, Enum& value) { value = *from_text<Enum>(json.get<std::string>(), ""); }
    static Json write(Enum value) { return to_text(value); }
};
template <typename T>
struct Codec<std::optional<T>> {
    static constexpr FieldType kType = Codec<T>::kType;
    static void read(const Json& json, std::optional<T>& value) { Codec<T>::read(json, value.emplace()); }
    static Json write(const std::optional<T>& value) { return value ? Codec<T>::write(*value) : Json(); }
};
template <>
struct Codec<std::vector<int>> {
    static constexpr FieldType kType = FieldType::integer_list;
    static void read(const Json& json, std::vector<int>& value) { value = json.get<std::vector<int>>(); }
    static Json write(const std::vector<int>& value) { return value; }
};
template <typename Enum>
struct Codec<WordSet<Enum>> {
    static constexpr FieldType kType = FieldType::word_list;
    static void read(const Json& json, WordSet<Enum>& value)
    {
        value = {};
        for (const Json& word : json)
            value.insert(*from_text<Enum>(word.get<std::string>(), ""));
    }
    static Json write(const WordSet<Enum>& value)
    {
        Json out = Json::array();
        for (const Enum one : value.values())
            out.push_back(to_text(one));
        return out;
    }
};
template <>
struct Codec<std::array<Dimension, 4>> {
    static constexpr FieldType kType = FieldType::order;
    static void read(const Json& json, std::array<Dimension, 4>& value)
    {
        for (std::size_t i = 0; i < value.size(); ++i)
            Codec<Dimension>::read(json[i], value[i]);
    }
    static Json write(const std::array<Dimension, 4>& value)
    {
        Json out = Json::array();
        for (const Dimension dimension : value)
            out.push_back(to_text(dimension));
        return out;
    }
};
template <>
struct Codec<std::map<std::string, std::string>> {
    static constexpr FieldType kType = FieldType::text_map;
    static void read(const Json& json, std::map<std::string, std::string>& value)
    {
        for (const auto& [key, text] : json.items())
            value[key] = text.get<std::string>();
    }
    static Json write(const std::map<std::string, std::string>& value) { return Json(value); }
};

// `get` returns the member of a Root, const or not.
template <typename Root, typename Get>
BoundField<Root> bound_field(const char* path, Get get, std::string help, FieldRange range = {})
{
    using T = std::remove_reference_t<decltype(get(std::declval<Root&>()))>;
    BoundField<Root> out{{range, path, Codec<T>::kType, std::move(help)}};
    if constexpr (Spelled<T>)
        out.choices = spellings<T>();
    else if constexpr (requires { typename T::Word; })
        out.choices = spellings<typename T::Word>();
    out.read = [get](const Json& json, Root& root) { Codec<T>::read(json, get(root)); };
    out.write = [get](const Root& root) { return Codec<T>::write(get(root)); };
    return out;
}

// Two numbers in one list.
template <typename Root, typename First, typename Second>
BoundField<Root> bound_pair(const char* path, First first, Second second, std::string help, FieldRange range)
{
    BoundField<Root> out{{range, path, FieldType::number_pair, std::move(help)}};
    out.read = [first, second](const Json& json, Root& root) {
        first(root) = json[0].get<double>();
        second(root) = json[1].get<double>();
    };
    out.write = [first, second](const Root& root) { return Json::array({first(root), second(root)}); };
    return out;
}

// The table of the plan file, and of one entry of its lists of token files.
const std::vector<BoundField<ResolvedPlan>>& bound_plan_fields();
const std::vector<BoundField<DataSource>>& data_fields();

// Reads the keys that `object` has into their members; the paths of `fields` start with `prefix`, which stands for
// `object`.
template <typename Root>
void read_bound(const std::vector<BoundField<Root>>& fields, const std::string& prefix, const Json& object, Root& root)
{
    for (const BoundField<Root>& field : fields) {
        if (!field.read || !field.path.starts_with(prefix))
            continue;
        if (const Json& value = value_at(object, field.path.substr(prefix.size())); !value.is_null())
            field.read(value, root);
    }
}
// The object that read_bound() reads, every key with a value, in the order of `fields`.
template <typename Root>
Json write_bound(const std::vector<BoundField<Root>>& fields, const std::string& prefix, const Root& root)
{
    Json out = Json::object();
    for (const BoundField<Root>& field : fields) {
        if (!field.write || !field.path.starts_with(prefix))
            continue;
        if (Json value = field.write(root); !value.is_null())
            set_value_at(out, field.path.substr(prefix.size()), std::move(value));
    }
    return out;
}

} // namespace fourfold
