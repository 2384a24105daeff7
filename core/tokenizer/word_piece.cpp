// SPDX-License-Identifier: GPL-3.0-or-later
// WordPiece: the longest token that begins what is left of the word, and again (Wu et al., arXiv:1609.08144, as
// google-research/bert has it). WordLevel: whole words alone.
#include "core/tokenizer/model.h"
#include "core/tokenizer/unicode.h"

namespace fourfold {

namespace {
class WordPieceModel : public TokenModel {
public:
    static Expected<ModelAndVocabulary> read(const Fields& fields)
    {
        auto model = std::make_unique<WordPieceModel>();
        FOURFOLD_TRY(model->vocabulary_, Vocabulary::read(fields));
        FOURFOLD_TRY(const std::string type, fields.text_or("type", "WordPiece"));
        model->whole_ = type == "WordLevel";
        FOURFOLD_TRY(const std::string unknown, fields.text_or("unk_token", model->whole_ ? "<unk>" : "[UNK]"));
        model->unknown_ = model->vocabulary_.id_of(unknown);
        if (!model->unknown_)
            return fields.problem("unk_token", in_quotes(unknown) + " is no token of the vocabulary");
        FOURFOLD_TRY(model->prefix_, fields.text_or("continuing_subword_prefix", "##"));
        FOURFOLD_TRY(const int most, fields.small_integer_or("max_input_chars_per_word", 100, 1));
        model->most_characters_ = std::size_t(most);
        Vocabulary vocabulary = model->vocabulary_;
        return ModelAndVocabulary{std::move(model), std::move(vocabulary), false};
    }

    Expected<void> tokens(std::string_view word, std::vector<std::uint32_t>& ids) const override
    {
        const std::size_t before = ids.size();
        if (!cut(word, ids)) {
            ids.resize(before);
            ids.push_back(*unknown_);
        }
        return {};
    }

private:
    bool cut(std::string_view word, std::vector<std::uint32_t>& ids) const
    {
        if (whole_) {
            if (const auto id = vocabulary_.id_of(word))
                ids.push_back(*id);
            return vocabulary_.id_of(word).has_value();
        }
        std::size_t count = 0;
        unicode::Characters characters(word);
        for (char32_t c = 0; characters.next(c);)
            ++count;
        if (count > most_characters_)
            return false;
        std::string token;
        for (std::size_t begin = 0; begin < word.size();) {
            std::size_t end = word.size();
            std::optional<std::uint32_t> id;
            for (; end > begin; --end) {
                const bool boundary = end == word.size() || (static_cast<unsigned char>(word[end]) & 0xC0) != 0x80;
                if (!boundary)
                    continue;
                token.assign(begin > 0 ? prefix_ : "").append(word.substr(begin, end - begin));
                id = vocabulary_.id_of(token);
                if (id)
                    break;
            }
            if (!id)
                return false;
            ids.push_back(*id);
            begin = end;
        }
        return true;
    }

    Vocabulary vocabulary_;
    std::optional<std::uint32_t> unknown_;
    std::string prefix_;
    std::size_t most_characters_ = 0;
    bool whole_ = false;
};
} // namespace

Expected<ModelAndVocabulary> word_piece_model(const Fields& fields)
{
    return WordPieceModel::read(fields);
}

} // namespace fourfold
