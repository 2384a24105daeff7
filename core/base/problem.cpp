// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/problem.h"

#include "core/base/text.h"

namespace fourfold {

std::string Problem::line() const
{
    std::string out;
    if (!where.empty())
        out += where + ": ";
    out += message;
    if (!hint.empty())
        out += " (" + hint + ")";
    return printable(out, kUncut);
}

int Problem::exit_status() const
{
    switch (code) {
    case ProblemCode::bad_input:
    case ProblemCode::not_found:
    case ProblemCode::unsupported:
        return 2;
    default:
        return 1;
    }
}

} // namespace fourfold
