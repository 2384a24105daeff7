// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/problem.h"

#include <cstdio>

namespace fourfold {

namespace {
std::string one_line(const std::string& text)
{
    std::string out;
    out.reserve(text.size());
    for (const unsigned char c : text) {
        if (c == '\n' || c == '\t' || c == '\r') {
            out += ' ';
        } else if (c < 0x20 || c == 0x7f) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
            out += escaped;
        } else {
            out += static_cast<char>(c);
        }
    }
    return out;
}
} // namespace

std::string Problem::line() const
{
    std::string out;
    if (!where.empty())
        out += where + ": ";
    out += message;
    if (!hint.empty())
        out += " (" + hint + ")";
    return one_line(out);
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
