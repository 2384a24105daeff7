// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

namespace fourfold::testing {

std::vector<Case> context_cases()
{
    return {};
}

std::vector<Sabotage> context_sabotages()
{
    return {};
}

} // namespace fourfold::testing
