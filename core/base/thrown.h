// SPDX-License-Identifier: GPL-3.0-or-later
// The last resort: what nobody foresaw becomes the Problem of the one piece of work that it came from.
#pragma once

#include "core/base/expected.h"

#include <exception>
#include <new>

namespace fourfold {

// make(), which returns an Expected; the Problem at `where` of what it throws instead.
template <typename Make>
auto unless_thrown(const std::string& where, Make&& make) -> decltype(make())
{
    try {
        return make();
    } catch (const std::bad_alloc&) {
        return Problem{ProblemCode::failed, "there is not enough memory for this", "", where};
    } catch (const std::exception& error) {
        return Problem{ProblemCode::failed, std::string("unexpected: ") + error.what(),
            "please report this with the command line", where};
    }
}

} // namespace fourfold
