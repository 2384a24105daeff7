// SPDX-License-Identifier: GPL-3.0-or-later
// SentencePiece's table of rewritten characters (`precompiled_charsmap`): a double array trie (Darts-clone: Yata et
// al., "A compact static double-array keeping character codes", 2007) from characters to their replacements.
#pragma once

#include "core/base/expected.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

class PrecompiledMap {
public:
    // Little-endian: bytes of the trie, the trie (32 bits per unit), replacements that end with a zero byte.
    static Expected<std::shared_ptr<const PrecompiledMap>> of_base64(
        const std::string& base64, const std::string& where);
    // Each grapheme cluster of less than six bytes as a whole where the table has one that begins it, else each
    // character by itself, as SentencePiece's port in Hugging Face's tokenizers does.
    [[nodiscard]] std::string apply(std::string_view text) const;

private:
    [[nodiscard]] std::optional<std::string_view> replacement(std::string_view text) const;

    std::vector<std::uint32_t> units_;
    std::string replacements_;
};

} // namespace fourfold
