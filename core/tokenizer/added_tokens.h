// SPDX-License-Identifier: GPL-3.0-or-later
// `added_tokens` of tokenizer.json: texts that are one token wherever they stand, whatever the model would make of
// them.
#pragma once

#include "core/base/json.h"
#include "core/tokenizer/byte_trie.h"
#include "core/tokenizer/normalizers.h"

#include <bitset>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// The texts, leftmost first and of those the longest.
class AddedTokens {
public:
    struct Token {
        std::string content;
        std::uint32_t id = 0;
        bool single_word = false; // only where no letter or digit stands beside it
        bool lstrip = false, rstrip = false; // takes the blanks before or behind it in
        bool normalized = false; // looked for in the text after its normalisation, normalised itself
        bool special = false;
    };
    static Expected<std::vector<Token>> read(const Json& json, const std::string& where);

    // `tokens` by what is looked for: their contents, rewritten where they are normalised.
    AddedTokens() = default;
    AddedTokens(const std::vector<Token>& tokens, const std::vector<std::string>& sought);

    struct Part {
        std::string_view text;
        std::optional<std::uint32_t> id; // of a token
    };
    // The text in parts, from its beginning to its end; empty ones are left out.
    void split(std::string_view text, std::vector<Part>& parts) const;
    [[nodiscard]] bool empty() const { return tokens_.empty(); }

private:
    [[nodiscard]] std::optional<std::size_t> longest_at(std::string_view text, std::size_t at) const;

    std::vector<Token> tokens_;
    std::vector<std::size_t> lengths_; // of what is looked for
    ByteTrie trie_; // what is looked for -> place in tokens_
    std::bitset<256> begins_;
};

} // namespace fourfold
