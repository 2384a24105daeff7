// SPDX-License-Identifier: GPL-3.0-or-later
// Which token ends a text: no part of tokenizer.json says so.
#pragma once

#include "core/tokenizer/tokenizer.h"

namespace fourfold {

// `eos_token` of the tokenizer_config.json beside the tokenizer, or the first usual name that the vocabulary has;
// nothing where there is none.
Expected<std::optional<std::string>> usual_end_token(
    const std::filesystem::path& tokenizer_file, const Tokenizer& tokenizer);

} // namespace fourfold
