// SPDX-License-Identifier: GPL-3.0-or-later
// Text to token ids by a Hugging Face `tokenizer.json`, with the same result as its own library (`tokenizers`):
// added tokens, normalizer, pre-tokenizer, model (BPE, Unigram, WordPiece, WordLevel), template of special tokens.
// What a file asks for and this cannot do is refused when it is read, never left out. Truncation and padding are
// passed over.
#pragma once

#include "core/base/json.h"
#include "core/tokenizer/added_tokens.h"
#include "core/tokenizer/model.h"
#include "core/tokenizer/pre_tokenizers.h"

#include <memory>
#include <unordered_map>

namespace fourfold {

// Immutable; any number of Encoders may share one.
class Tokenizer {
public:
    // Problems name the file and the key.
    static Expected<std::shared_ptr<const Tokenizer>> open(const std::filesystem::path& file);
    static Expected<std::shared_ptr<const Tokenizer>> of_json(const Json& json, const std::string& where);

    [[nodiscard]] std::optional<std::uint32_t> id_of(std::string_view token) const;
    // One more than the largest id: what a model's vocabulary must be at least.
    [[nodiscard]] std::uint32_t vocabulary_size() const { return end_; }
    // Ids that the file's template (`post_processor`) puts before and behind one text.
    [[nodiscard]] const std::vector<std::uint32_t>& before() const { return before_; }
    [[nodiscard]] const std::vector<std::uint32_t>& behind() const { return behind_; }

private:
    friend class Encoder;
    Tokenizer() = default;
    Expected<void> read_added(const Json& json, const std::string& where);
    Expected<void> read_template(const Json& json, const std::string& where);

    AddedTokens raw_, normalized_; // looked for before and after the normalizer
    Normalizers normalizers_;
    PreTokenizers pre_tokenizers_;
    ModelAndVocabulary model_;
    std::vector<std::uint32_t> before_, behind_;
    std::uint32_t end_ = 0;
};

// Encodes one text after the other and remembers the words that it met. For one thread.
class Encoder {
public:
    explicit Encoder(std::shared_ptr<const Tokenizer> tokenizer)
        : tokenizer_(std::move(tokenizer))
    {
    }
    // Adds the tokens of `text`, which must be well-formed UTF-8, to `ids`; no template.
    Expected<void> encode(std::string_view text, std::vector<std::uint32_t>& ids);

private:
    Expected<void> encode_part(std::string_view text, bool first, std::vector<std::uint32_t>& ids);
    Expected<void> encode_words(std::string_view text, bool first, std::vector<std::uint32_t>& ids);
    Expected<void> encode_word(std::string_view word, std::vector<std::uint32_t>& ids);

    std::shared_ptr<const Tokenizer> tokenizer_;
    Pieces pieces_;
    std::vector<TextSpan> spans_;
    std::unordered_map<std::string, std::vector<std::uint32_t>, TextHash, std::equal_to<>> known_;
};

} // namespace fourfold
