// SPDX-License-Identifier: GPL-3.0-or-later
// Typed access to the keys of one JSON object. Every error names the object, the key, what was found and what was
// expected. A key whose value is null counts as absent (the contract's "not known").
#pragma once

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/words.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace fourfold {

class Fields {
public:
    // `json` must outlive the Fields. Fails when it is not an object.
    static Expected<Fields> of(const Json& json, const std::string& where)
    {
        if (!json.is_object())
            return Problem{
                ProblemCode::bad_input, "expected an object, found " + std::string(json.type_name()), {}, where};
        return Fields(json, where);
    }

    // The same, telling `keys` which of them are asked for; those of objects within as "object.key".
    [[nodiscard]] Fields recording(std::set<std::string>& keys) const
    {
        Fields copy = *this;
        copy.asked_ = &keys;
        return copy;
    }

    // The same object with other values, which must outlive the Fields.
    [[nodiscard]] Expected<Fields> with(const Json& json) const
    {
        FOURFOLD_TRY(Fields copy, of(json, where_));
        copy.asked_ = asked_;
        copy.prefix_ = prefix_;
        return copy;
    }

    [[nodiscard]] const Json& json() const { return *json_; }
    [[nodiscard]] const std::string& where() const { return where_; }
    [[nodiscard]] bool has(const std::string& key) const
    {
        const auto it = json_->find(key);
        if (it != json_->end() && asked_ != nullptr)
            asked_->insert(prefix_ + key);
        return it != json_->end() && !it->is_null();
    }
    [[nodiscard]] std::string where(const std::string& key) const { return where_.empty() ? key : where_ + ": " + key; }
    [[nodiscard]] Problem problem(const std::string& key, std::string message, std::string hint = {}) const
    {
        return {ProblemCode::bad_input, std::move(message), std::move(hint), where(key)};
    }

    // Whole numbers in [least, most].
    [[nodiscard]] Expected<int64_t> integer(
        const std::string& key, int64_t least = 1, int64_t most = kMostInteger) const
    {
        if (!has(key))
            return missing(key, range("a whole number", least, most));
        const Json& value = (*json_)[key];
        if (!value.is_number_integer())
            return wrong(key, range("a whole number", least, most));
        // Unsigned values above 2^63 would wrap around.
        if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most))
            return wrong(key, range("a whole number", least, most));
        const auto number = value.get<int64_t>();
        if (number < least || number > most)
            return wrong(key, range("a whole number", least, most));
        return number;
    }
    [[nodiscard]] Expected<int64_t> integer_or(
        const std::string& key, int64_t fallback, int64_t least = 1, int64_t most = kMostInteger) const
    {
        return has(key) ? integer(key, least, most) : Expected<int64_t>(fallback);
    }
    [[nodiscard]] Expected<int> small_integer(const std::string& key, int least = 1, int most = kMostSmall) const
    {
        auto number = integer(key, least, most);
        return number ? Expected<int>(static_cast<int>(*number)) : Expected<int>(std::move(number).error());
    }
    [[nodiscard]] Expected<int> small_integer_or(
        const std::string& key, int fallback, int least = 1, int most = kMostSmall) const
    {
        return has(key) ? small_integer(key, least, most) : Expected<int>(fallback);
    }

    // Finite numbers above 0.
    [[nodiscard]] Expected<double> positive(const std::string& key) const { return bounded(key, true); }
    [[nodiscard]] Expected<double> positive_or(const std::string& key, double fallback) const
    {
        return has(key) ? bounded(key, true) : Expected<double>(fallback);
    }
    // Finite numbers of at least 0.
    [[nodiscard]] Expected<double> non_negative_or(const std::string& key, double fallback) const
    {
        return has(key) ? bounded(key, false) : Expected<double>(fallback);
    }

    [[nodiscard]] Expected<bool> boolean_or(const std::string& key, bool fallback) const
    {
        if (!has(key))
            return fallback;
        const Json& value = (*json_)[key];
        return value.is_boolean() ? Expected<bool>(value.get<bool>()) : Expected<bool>(wrong(key, "true or false"));
    }
    [[nodiscard]] Expected<std::string> text(const std::string& key) const
    {
        if (!has(key))
            return missing(key, "a string");
        const Json& value = (*json_)[key];
        return value.is_string() ? Expected<std::string>(value.get<std::string>())
                                 : Expected<std::string>(wrong(key, "a string"));
    }
    [[nodiscard]] Expected<std::string> text_or(const std::string& key, const std::string& fallback) const
    {
        return has(key) ? text(key) : Expected<std::string>(fallback);
    }
    // What people call it: on one line, without control characters.
    [[nodiscard]] Expected<std::string> name(const std::string& key) const
    {
        auto name = text(key);
        return name ? Expected<std::string>(printable(*name, kUncut)) : std::move(name);
    }
    [[nodiscard]] Expected<std::string> name_or(const std::string& key, const std::string& fallback) const
    {
        return has(key) ? name(key) : Expected<std::string>(fallback);
    }
    // A word of an enum.
    template <Spelled Enum>
    [[nodiscard]] Expected<Enum> word_or(const std::string& key, Enum fallback) const
    {
        FOURFOLD_TRY(const std::string word, text_or(key, to_text(fallback)));
        return from_text<Enum>(word, where(key));
    }
    [[nodiscard]] Expected<Fields> object(const std::string& key) const
    {
        if (!has(key))
            return missing(key, "an object");
        FOURFOLD_TRY(Fields fields, of((*json_)[key], where(key)));
        fields.asked_ = asked_;
        fields.prefix_ = prefix_ + key + ".";
        return fields;
    }

    [[nodiscard]] Problem missing(const std::string& key, const std::string& expected) const
    {
        return problem(key, "missing key, expected " + expected);
    }
    [[nodiscard]] Problem wrong(const std::string& key, const std::string& expected) const
    {
        constexpr std::size_t kMostShown = 60;
        const std::string found
            = printable((*json_)[key].dump(-1, ' ', false, Json::error_handler_t::replace), kMostShown);
        return problem(key, "expected " + expected + ", found " + found);
    }

private:
    static constexpr int64_t kMostInteger = int64_t(1) << 40;
    static constexpr int kMostSmall = 1 << 30;

    Fields(const Json& json, std::string where)
        : json_(&json)
        , where_(std::move(where))
    {
    }

    static std::string range(const std::string& what, int64_t least, int64_t most)
    {
        if (most == kMostInteger || most == kMostSmall)
            return what + " of at least " + std::to_string(least);
        return what + " from " + std::to_string(least) + " to " + std::to_string(most);
    }
    [[nodiscard]] Expected<double> bounded(const std::string& key, bool above_zero) const
    {
        const std::string expected = above_zero ? "a number above 0" : "a number of at least 0";
        if (!has(key))
            return missing(key, expected);
        const Json& value = (*json_)[key];
        if (!value.is_number())
            return wrong(key, expected);
        const auto number = value.get<double>();
        if (!std::isfinite(number) || number < 0 || (above_zero && number == 0))
            return wrong(key, expected);
        return number;
    }

    const Json* json_;
    std::string where_;
    std::set<std::string>* asked_ = nullptr;
    std::string prefix_;
};

} // namespace fourfold
