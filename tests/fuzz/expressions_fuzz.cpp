// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions as they are typed: refused at a place within the text, or the same however they are looked at - whole,
// taken apart, or over ranges that hold the values.
#include "core/expression/conjuncts.h"
#include "core/search/fields.h"
#include "must.h"

#include <algorithm>
#include <cmath>

namespace {

using namespace fourfold;

// Values of fields that follow from the bytes; some are not known.
PlanValues values_from(const std::uint8_t* data, std::size_t size)
{
    PlanValues values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const unsigned byte = size > 0 ? data[i % size] + unsigned(i) : 0;
        if (byte % 11 == 0)
            values[i] = std::nan("");
        else if (plan_field_set().fields()[i].kind == ValueKind::truth)
            values[i] = byte % 2;
        else
            values[i] = double(byte % 23) - (byte % 5 == 0 ? 8 : 0);
    }
    return values;
}

PlanRanges around(const PlanValues& values, double width)
{
    PlanRanges ranges{};
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double left = i % 3 == 0 ? 0 : width, right = i % 4 == 0 ? kInfinity * width : width;
        ranges[i] = std::isnan(values[i]) ? ValueRange{width > 0 ? -1.0 : kInfinity, width > 0 ? 1.0 : -kInfinity, true}
                                          : ValueRange{values[i] - left, width > 0 ? values[i] + right : values[i]};
    }
    return ranges;
}

void look_at(const Expression& expression, const PlanValues& values)
{
    const bool holds = expression.holds(values);
    const double miss = expression.miss(values);
    fuzz::must(holds == (miss == 0) && !(miss < 0));
    for (const double width : {0.0, 2.0}) {
        const Expression::Outlook outlook = expression.outlook(around(values, width));
        fuzz::must(holds ? outlook.may_hold : !outlook.must_hold);
        fuzz::must(outlook.may_hold == (outlook.least_miss == 0) && outlook.least_miss <= miss);
    }
    bool all = true;
    for (const Expression& part : conjuncts(expression, plan_field_set()))
        all = all && part.holds(values);
    fuzz::must(all == holds);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text(fuzz::text_of(data, size));
    const PlanValues values = values_from(data, size);
    for (const ValueKind kind : {ValueKind::truth, ValueKind::number}) {
        ExpressionError error;
        const auto expression = parse_expression(text, kind, plan_field_set(), "fuzz", &error);
        if (!expression)
            fuzz::must(error.position + error.length <= text.size() && !error.message.empty());
        else if (kind == ValueKind::truth)
            look_at(*expression, values);
        else
            (void)expression->value(values);
    }
    const std::size_t cursor = size > 0 ? data[0] % (size + 1) : 0;
    fuzz::must(complete_expression(text, cursor, plan_field_set()).begin <= cursor);
    return 0;
}
