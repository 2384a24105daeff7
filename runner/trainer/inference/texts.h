// SPDX-License-Identifier: GPL-3.0-or-later
// What people write, as token ids and back.
#pragma once

#include "core/tokenizer/end_token.h"
#include "core/tokenizer/text_of_tokens.h"

namespace fourfold::trainer {

class Texts {
public:
    // `named`: a tokenizer.json or the folder that holds one; empty: the one beside the checkpoint's weights. Without
    // any, texts are refused where they come, ids are not. A tokenizer with more tokens than the model is a Problem.
    static Expected<Texts> open(
        const std::filesystem::path& named, const std::filesystem::path& checkpoint, int64_t vocabulary);

    // With what the tokenizer's template puts before a text. `where` says whose text it is.
    [[nodiscard]] Expected<std::vector<int64_t>> ids(const std::string& text, const std::string& where) const;
    // What the template puts before a text alone.
    [[nodiscard]] std::vector<int64_t> before() const;
    [[nodiscard]] bool known() const { return tokenizer_ != nullptr; }
    // Without a tokenizer the ids themselves.
    [[nodiscard]] std::string text(const std::vector<int64_t>& ids) const;
    [[nodiscard]] std::optional<int64_t> end() const { return end_; } // the token that ends a text

private:
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::shared_ptr<const TextOfTokens> back_;
    std::optional<int64_t> end_;
};

} // namespace fourfold::trainer
