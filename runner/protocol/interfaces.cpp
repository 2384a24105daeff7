// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/interfaces.h"

#include "core/base/text.h"
#include "runner/protocol/message.h"

#include <sstream>

namespace fourfold {

bool names_interface(const std::string& wanted)
{
    return !wanted.empty() && wanted[0] != '^';
}

std::string address_of_interface(const Json& interfaces, const std::string& wanted)
{
    if (!names_interface(wanted))
        return {};
    const bool whole = wanted[0] == '=';
    std::istringstream names(wanted.substr(whole ? 1 : 0));
    for (std::string name; std::getline(names, name, ',');) {
        std::string by_beginning;
        for (const Json& item : interfaces) {
            const std::string is = text_field(item, "name");
            if (is == name)
                return text_field(item, "address");
            if (!whole && !name.empty() && is.starts_with(name) && by_beginning.empty())
                by_beginning = text_field(item, "address");
        }
        if (!by_beginning.empty())
            return by_beginning;
    }
    return {};
}

std::string interfaces_text(const Json& interfaces)
{
    std::string out;
    for (const Json& item : interfaces)
        out += (out.empty() ? "" : ", ") + text_field(item, "name") + " " + text_field(item, "address");
    return printable(out);
}

} // namespace fourfold
