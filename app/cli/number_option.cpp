// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/number_option.h"

#include "core/base/text.h"

#include <charconv>
#include <cmath>
#include <sstream>

namespace fourfold::cli {

CLI::Validator number_up_to(double most, bool or_zero)
{
    return CLI::Validator(
        [most, or_zero](const std::string& text) -> std::string {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
            if (is_number && value <= most && (or_zero ? value >= 0 : value > 0))
                return {};
            std::ostringstream out;
            out << "found " << in_quotes(text) << ", expected a number " << (or_zero ? "from 0 on" : "above 0")
                << ", at most " << most;
            return out.str();
        },
        "NUMBER");
}

} // namespace fourfold::cli
