// SPDX-License-Identifier: GPL-3.0-or-later
// What dashboards call hyperparameters: a plan's settings, each with a name and one value.
#pragma once

#include "core/base/json.h"

#include <string>
#include <utility>
#include <vector>

namespace fourfold {

// Those of a resolved plan that are one text, number or yes and no, by their place in it ("layout.tp"), in its order:
// its name and GPUs, all of model, layout, training and run, the names of cluster and stack. Of no plan: none.
std::vector<std::pair<std::string, Json>> settings_of(const Json& plan);

} // namespace fourfold
