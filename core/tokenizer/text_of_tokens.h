// SPDX-License-Identifier: GPL-3.0-or-later
// Token ids back to text by a Hugging Face `tokenizer.json` (`decoder`), with the same result as its own library.
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fourfold {

// Immutable.
class TextOfTokens {
public:
    // Problems name the file and the key; a decoder that is not known here is unsupported.
    static Expected<TextOfTokens> open(const std::filesystem::path& tokenizer_file);

    // Well-formed UTF-8: U+FFFD stands for bytes that are none. Ids beyond the vocabulary have no text. Without
    // `special`, special tokens have none either.
    [[nodiscard]] std::string text(std::span<const std::uint32_t> ids, bool special = true) const;

private:
    // A step takes the texts of all tokens and rewrites them; there may be fewer behind it.
    using Step = std::function<void(std::vector<std::string>&)>;
    Expected<void> add_steps(const Json& json, const std::string& where);

    std::unordered_map<std::uint32_t, std::string> tokens_;
    std::unordered_set<std::uint32_t> special_;
    std::vector<Step> steps_; // none: the tokens with blanks between them
};

} // namespace fourfold
