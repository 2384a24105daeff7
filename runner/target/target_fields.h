// SPDX-License-Identifier: GPL-3.0-or-later
// Strict reading of a target's JSON objects, by tables of keys that also write them.
#pragma once

#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace fourfold {

// Reads the keys of one object; the first thing that is wrong is kept, and a key that nobody asked for is wrong too.
class TargetFields {
public:
    TargetFields(const Json& json, std::string where, std::string prefix = {})
        : json_(json)
        , where_(std::move(where))
        , prefix_(std::move(prefix))
    {
        if (!json.is_object())
            complain(prefix_.empty() ? "a target must be an object"
                                     : prefix_.substr(0, prefix_.find_last_not_of('.') + 1) + " must be an object");
    }

    const Json* find(const char* key)
    {
        known_.emplace_back(key);
        return json_.is_object() && json_.contains(key) && !json_[key].is_null() ? &json_[key] : nullptr;
    }
    void text(const char* key, std::string& out)
    {
        if (const Json* value = find(key)) {
            if (!value->is_string() || value->get_ref<const std::string&>().find('\0') != std::string::npos)
                complain(prefix_ + key + " must be text");
            else
                out = value->get<std::string>();
        }
    }
    void choice(const char* key, std::string& out, const std::vector<std::string>& choices)
    {
        text(key, out);
        if (std::find(choices.begin(), choices.end(), out) == choices.end())
            complain(prefix_ + key + " " + in_quotes(out) + " is not known", "expected " + joined(choices, " or "));
    }
    void number(const char* key, double& out, double minimum, double maximum)
    {
        if (const Json* value = find(key)) {
            if (!value->is_number() || !(value->get<double>() >= minimum && value->get<double>() <= maximum))
                complain(prefix_ + key + " must be a number from " + shown(minimum) + " to " + shown(maximum));
            else
                out = value->get<double>();
        }
    }
    void integer(const char* key, int& out, int minimum, int maximum)
    {
        if (const Json* value = find(key)) {
            if (!value->is_number_integer() || value->get<int64_t>() < minimum || value->get<int64_t>() > maximum)
                complain(prefix_ + key + " must be a whole number from " + std::to_string(minimum) + " to "
                    + std::to_string(maximum));
            else
                out = value->get<int>();
        }
    }
    void flag(const char* key, bool& out)
    {
        if (const Json* value = find(key)) {
            if (!value->is_boolean())
                complain(prefix_ + key + " must be true or false");
            else
                out = value->get<bool>();
        }
    }
    // A list of texts; one text alone counts as a list of one.
    void texts(const char* key, std::vector<std::string>& out)
    {
        const Json* value = find(key);
        if (!value)
            return;
        const Json list = value->is_string() ? Json::array({*value}) : *value;
        if (!list.is_array()
            || !std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_string(); }))
            return complain(prefix_ + key + " must be a list of texts");
        out = list.get<std::vector<std::string>>();
    }
    void complain(std::string message, std::string hint = {})
    {
        if (!problem_)
            problem_ = Problem{ProblemCode::bad_input, std::move(message), std::move(hint), where_};
    }
    void take(Expected<void> result)
    {
        if (!result && !problem_)
            problem_ = result.error();
    }
    [[nodiscard]] const std::string& where() const { return where_; }
    [[nodiscard]] std::string at(const std::string& key) const { return prefix_ + key; }

    Expected<void> done()
    {
        if (problem_)
            return *problem_;
        for (const auto& [key, value] : json_.items()) {
            if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
                const auto near = nearest_words(key, known_, 1);
                return Problem{ProblemCode::bad_input, "the key " + in_quotes(prefix_ + key) + " is not known",
                    (near.empty() ? "" : "did you mean " + near.front() + "? ") + std::string("expected one of ")
                        + joined(known_, ", "),
                    where_};
            }
        }
        return {};
    }

private:
    static std::string shown(double number)
    {
        char text[32];
        std::snprintf(text, sizeof text, "%g", number);
        return text;
    }

    const Json& json_;
    std::string where_, prefix_;
    std::vector<std::string> known_;
    std::optional<Problem> problem_;
};

// A key of an object and the member that it fills: reading, ranges and writing come from tables of these.
template <typename T>
struct FieldOf {
    struct Choice {
        std::string T::*member;
        std::vector<std::string> words;
    };
    struct Number {
        double T::*member;
        double least, most;
    };
    struct Whole {
        int T::*member;
        int least, most;
    };
    using Value = std::variant<std::string T::*, bool T::*, std::vector<std::string> T::*, Choice, Number, Whole>;

    const char* name;
    Value value;
};

template <typename T>
void read_keys(TargetFields& fields, const std::vector<FieldOf<T>>& keys, T& object)
{
    for (const FieldOf<T>& key : keys) {
        const auto read = [&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::string T::*>)
                fields.text(key.name, object.*value);
            else if constexpr (std::is_same_v<Value, bool T::*>)
                fields.flag(key.name, object.*value);
            else if constexpr (std::is_same_v<Value, std::vector<std::string> T::*>)
                fields.texts(key.name, object.*value);
            else if constexpr (std::is_same_v<Value, typename FieldOf<T>::Choice>)
                fields.choice(key.name, object.*value.member, value.words);
            else if constexpr (std::is_same_v<Value, typename FieldOf<T>::Number>)
                fields.number(key.name, object.*value.member, value.least, value.most);
            else
                fields.integer(key.name, object.*value.member, value.least, value.most);
        };
        std::visit(read, key.value);
    }
}

template <typename T>
void write_keys(Json& out, const std::vector<FieldOf<T>>& keys, const T& object)
{
    for (const FieldOf<T>& key : keys) {
        const auto write = [&](const auto& value) {
            if constexpr (std::is_member_object_pointer_v<std::decay_t<decltype(value)>>)
                out[key.name] = object.*value;
            else
                out[key.name] = object.*value.member;
        };
        std::visit(write, key.value);
    }
}

} // namespace fourfold
