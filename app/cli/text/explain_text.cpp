// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text/explain_text.h"

#include "core/base/text.h"
#include "core/report/table/table.h"

#include <cmath>

namespace fourfold::cli {

namespace {

constexpr double kSmallestShare = 0.005; // of the root

std::string value_text(const Explanation& node)
{
    if (!node.value)
        return "not known";
    const std::string text = text_of("%.4g", *node.value);
    return node.unit.empty() ? text : text + " " + node.unit;
}

// `whole`: the value that the terms add up to; 0 where they do not.
void write(const Explanation& node, const std::string& indent, double whole, std::string& out)
{
    out += indent + node.label + ": " + value_text(node);
    if (whole != 0 && node.value)
        out += " (" + shown_number(100 * *node.value / whole, 1) + " %)";
    out += "\n";
    const std::string inner = indent + "    ";
    if (!node.formula.empty())
        out += inner + "= " + node.formula + "\n";
    if (!node.source.empty())
        out += inner + "from: " + node.source + "\n";
    int small = 0;
    double rest = 0;
    for (const Explanation& child : node.children) {
        const double share_of = node.sum ? (whole != 0 ? whole : node.value.value_or(0)) : 0;
        if (share_of != 0 && child.value && std::abs(*child.value) < kSmallestShare * std::abs(share_of)) {
            ++small;
            rest += *child.value;
            continue;
        }
        write(child, indent + "  ", share_of, out);
    }
    if (small > 0) {
        Explanation others;
        others.label = std::to_string(small) + (small == 1 ? " smaller term" : " smaller terms");
        others.value = rest;
        others.unit = node.unit;
        write(others, indent + "  ", 0, out);
    }
}

} // namespace

std::string explanation_text(const Explanation& root)
{
    std::string out;
    write(root, "", 0, out);
    return out;
}

} // namespace fourfold::cli
