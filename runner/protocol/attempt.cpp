// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/attempt.h"

#include <charconv>

namespace fourfold {

namespace {
constexpr std::size_t kIdLength = 26; // of a ULID
constexpr char kMark = 'A';
} // namespace

std::string attempt_id(const Attempt& attempt)
{
    return attempt.number > 0 ? attempt.run + kMark + std::to_string(attempt.number) : attempt.run;
}

Attempt attempt_of(const std::string& id)
{
    int number = 0;
    if (id.size() <= kIdLength + 1 || id[kIdLength] != kMark)
        return {id, 0};
    const auto [end, error] = std::from_chars(id.data() + kIdLength + 1, id.data() + id.size(), number);
    if (error != std::errc{} || end != id.data() + id.size() || number < 1)
        return {id, 0};
    return {id.substr(0, kIdLength), number};
}

} // namespace fourfold
