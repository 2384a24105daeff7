// SPDX-License-Identifier: GPL-3.0-or-later
// Lets a table of strings be asked with a view, without a copy.
#pragma once

#include <functional>
#include <string_view>

namespace fourfold {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

} // namespace fourfold
