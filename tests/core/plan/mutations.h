// SPDX-License-Identifier: GPL-3.0-or-later
// Seeded damage to plan files, for fuzzing.
#pragma once

#include "core/base/json.h"

#include <random>
#include <string>

namespace fourfold::test {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t limit)
{
    return limit == 0 ? 0 : random() % limit; // the same on every standard library
}

// Flips, removes, doubles, replaces or inserts bytes.
inline std::string damaged_bytes(std::string text, Random& random)
{
    static const std::string kTokens[]{"{", "}", "[", "]", "\"", ":", ",", "null", "1e999", "-", "0x1", "\\u0000",
        "\xff", "\xed\xa0\x80", "\xc0\xaf", "18446744073709551616", "-9223372036854775809", "\"tp\":1,", "NaN", "\0"};
    const std::size_t times = 1 + below(random, 8);
    for (std::size_t i = 0; i < times && !text.empty(); ++i) {
        const std::size_t at = below(random, text.size());
        switch (below(random, 5)) {
        case 0:
            text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8)));
            break;
        case 1:
            text.erase(at, 1 + below(random, 16));
            break;
        case 2:
            text.insert(at, text.substr(below(random, text.size()), below(random, 64)));
            break;
        case 3:
            text[at] = static_cast<char>(random());
            break;
        default:
            text.insert(at, kTokens[below(random, std::size(kTokens))]);
            break;
        }
    }
    return text;
}

inline Json odd_value(Random& random)
{
    static const std::string kValues[]{"null", "true", "false", "0", "-1", "1", "2", "3", "7", "64", "1048576",
        "1048577", "2147483647", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615", "1.5", "-0.0", "1e-320", "1.7976931348623157e308", "\"\"", "\"none\"", "\"bf16\"",
        "\"hybrid\"", "\"interleaved\"", "\"zb-v\"", "\"x.csv\"", "\"full\"", "\"small\"", "\"\\u0000\"", "[]", "{}",
        "[1]", "[0,0]", "[0.5,0.25]", "[4,4]", "[[]]", "{\"a\":1}", "[\"dp\",\"pp\",\"cp\",\"tp\"]"};
    return Json::parse(kValues[below(random, std::size(kValues))]);
}

// Replaces, removes or adds values somewhere in the tree; the result is always well-formed JSON.
inline void damage_structure(Json& json, Random& random)
{
    if (json.is_structured() && !json.empty() && below(random, 8) != 0) {
        auto at = json.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(below(random, json.size())));
        if (below(random, 10) == 0)
            json.erase(at);
        else
            damage_structure(*at, random);
        return;
    }
    if (json.is_object() && below(random, 2) == 0)
        json["key" + std::to_string(below(random, 4))] = odd_value(random);
    else
        json = odd_value(random);
}

} // namespace fourfold::test
