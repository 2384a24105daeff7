// SPDX-License-Identifier: GPL-3.0-or-later
// What + and - do to a number of a plan.
#pragma once

namespace fourfold::view {

// `steps` further among the divisors of `dividend`, where one is given (0: none); below the first comes the last. Else
// twice and half.
int stepped_degree(int value, int steps, int dividend);

} // namespace fourfold::view
