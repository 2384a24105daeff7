// SPDX-License-Identifier: GPL-3.0-or-later
// Holds events to resources/schemas/events.schema.json.
#pragma once

#include "core/base/json.h"

#include <string>

namespace fourfold::testing {

// What is wrong with an event: a required key that is missing, a key that the schema does not name, a value of another
// type. Empty when nothing is.
std::string schema_violation(const Json& event);

} // namespace fourfold::testing
