// SPDX-License-Identifier: GPL-3.0-or-later
// The last resort: what nobody foresaw becomes the Problem of the one piece of work that it came from.
#pragma once

#include "core/base/expected.h"

#include <exception>

namespace fourfold {

// Of the exception that is being handled. A limit of the session or the computer is named, with how to raise it.
Problem problem_of_thrown(const std::string& where);

// make(), which returns an Expected; the Problem at `where` of what it throws instead.
template <typename Make>
auto unless_thrown(const std::string& where, Make&& make) -> decltype(make())
{
    try {
        return make();
    } catch (const std::exception&) {
        return problem_of_thrown(where);
    }
}

} // namespace fourfold
