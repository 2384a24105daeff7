// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/problem.h"

#include "core/base/text.h"

namespace fourfold {

namespace {
// A name of any length, as a command line may hold: its beginning, and its end, where a line or a field is told.
std::string shown_place(const std::string& where)
{
    constexpr std::size_t kBeginning = 300, kEnd = 100;
    const std::string text = printable(where, kUncut);
    if (text.size() <= kBeginning + kEnd)
        return text;
    std::size_t end = text.size() - kEnd;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) // within a character
        ++end;
    return printable(text, kBeginning) + text.substr(end);
}
} // namespace

std::string Problem::line() const
{
    std::string out;
    if (!where.empty())
        out += shown_place(where) + ": ";
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
