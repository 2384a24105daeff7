// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/trace_difference.h"

#include "app/models/shared/text.h"
#include "app/view/compare/trace_difference.h"

namespace fourfold::ui {

QString traceDifference(const ListedStep& first, const ListedStep& second, int most)
{
    return fromUtf8(view::trace_difference(first, second, static_cast<std::size_t>(most)));
}

} // namespace fourfold::ui
