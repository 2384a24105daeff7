// SPDX-License-Identifier: GPL-3.0-or-later
// What programs wrote for themselves, read back as far as it is what they wrote.
#pragma once

#include "core/base/json.h"

#include <string>
#include <type_traits>
#include <vector>

namespace fourfold {

// The member of an object where it is of the fallback's kind (text, truth or whole number), else the fallback: for
// files that somebody may have changed. Json::value() throws there.
template <typename Value>
Value member_or(const Json& object, const char* key, Value fallback)
{
    const auto found = object.find(key);
    const bool fits = found != object.end()
        && (std::is_same_v<Value, bool>     ? found->is_boolean()
                : std::is_integral_v<Value> ? found->is_number_integer()
                                            : found->is_string());
    return fits ? found->template get<Value>() : fallback;
}

// The texts of the list `key` of an object; what is none is left out, and all where it is no list.
inline std::vector<std::string> texts_of(const Json& object, const char* key)
{
    std::vector<std::string> texts;
    const auto list = object.find(key);
    if (list == object.end() || !list->is_array())
        return texts;
    for (const Json& entry : *list) {
        if (entry.is_string())
            texts.push_back(entry.get<std::string>());
    }
    return texts;
}

} // namespace fourfold
