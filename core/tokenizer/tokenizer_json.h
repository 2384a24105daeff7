// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <string>
#include <string_view>

namespace fourfold {

// The content of a tokenizer.json; what is something else is named as such.
Expected<Json> tokenizer_json(std::string_view text, const std::string& where);

} // namespace fourfold
