// SPDX-License-Identifier: GPL-3.0-or-later
// `model` of tokenizer.json: what makes tokens of one word.
#pragma once

#include "core/base/json_fields.h"
#include "core/tokenizer/text_hash.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fourfold {

// Token ids by their texts.
class Vocabulary {
public:
    // Of an object (text -> id), or of an array of [text, score] whose places are the ids.
    static Expected<Vocabulary> read(const Fields& model);
    [[nodiscard]] std::optional<std::uint32_t> id_of(std::string_view token) const
    {
        const auto found = ids_.find(token);
        return found == ids_.end() ? std::nullopt : std::optional(found->second);
    }
    void add(std::string token, std::uint32_t id) { ids_.emplace(std::move(token), id); }
    // The same tokens as the bytes that their letters stand for (byte_letters.h); others stay as they are.
    [[nodiscard]] Vocabulary as_bytes() const;
    [[nodiscard]] std::uint32_t end() const; // one more than the largest id
    // Ids of "<0x00>" to "<0xFF>", where all are there.
    [[nodiscard]] std::optional<std::vector<std::uint32_t>> bytes() const;

private:
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> ids_;
};

// Immutable; several threads may use one at once.
class TokenModel {
public:
    virtual ~TokenModel() = default;
    // Adds the tokens of `word` (not empty) to `ids`. Fails only where the vocabulary has no token for what it does not
    // know.
    virtual Expected<void> tokens(std::string_view word, std::vector<std::uint32_t>& ids) const = 0;
};

// As what `tokens` is given: words as they are, or with letters for their bytes.
struct ModelAndVocabulary {
    std::unique_ptr<const TokenModel> model;
    Vocabulary vocabulary;
    bool takes_bytes = false; // words as bytes where the pre-tokenizer would write letters
};
// `letters`: the pre-tokenizer ends in letters for bytes. Models that are not known here are unsupported, and named.
Expected<ModelAndVocabulary> token_model_of(const Json& json, bool letters, const std::string& where);

Expected<ModelAndVocabulary> byte_pair_model(const Fields& fields, bool letters);
Expected<ModelAndVocabulary> unigram_model(const Fields& fields);
Expected<ModelAndVocabulary> word_piece_model(const Fields& fields);

} // namespace fourfold
