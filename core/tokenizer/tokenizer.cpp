// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/tokenizer.h"

#include "core/base/input_file.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/tokenizer/byte_letters.h"
#include "core/tokenizer/tokenizer_json.h"

namespace fourfold {

namespace {
constexpr std::size_t kMostFileBytes = std::size_t(256) << 20;

const Json& member(const Json& json, const char* key)
{
    static const Json kNull;
    const auto found = json.find(key);
    return found == json.end() ? kNull : *found;
}

// Larger ids have no place in a token file of this vocabulary.
bool is_id(const Json& json, std::uint32_t end)
{
    return json.is_number_unsigned() && json.get<std::uint64_t>() < end;
}
} // namespace

Expected<Json> tokenizer_json(std::string_view text, const std::string& where)
{
    auto json = parse_json(text, where);
    // SentencePiece's tokenizer.model and tiktoken's lists come with models, too.
    if (!json && !text.empty() && !trimmed(text, " \t\r\n").starts_with('{'))
        return Problem{ProblemCode::bad_input, "is no JSON, expected Hugging Face's tokenizer.json",
            "transformers writes one: AutoTokenizer.from_pretrained(MODEL).save_pretrained(FOLDER)", where};
    return json;
}

Expected<std::shared_ptr<const Tokenizer>> Tokenizer::open(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const std::string text, read_input(file, kMostFileBytes));
    FOURFOLD_TRY(const Json json, tokenizer_json(text, file.string()));
    return of_json(json, file.string());
}

Expected<std::shared_ptr<const Tokenizer>> Tokenizer::of_json(const Json& json, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    if (!fields.has("model"))
        return Problem{ProblemCode::bad_input, "has no model: expected Hugging Face's tokenizer.json", "", where};
    const std::shared_ptr<Tokenizer> made(new Tokenizer);
    FOURFOLD_CHECK(add_normalizers(member(json, "normalizer"), fields.where("normalizer"), made->normalizers_));
    FOURFOLD_TRY(
        made->pre_tokenizers_, pre_tokenizers_of(member(json, "pre_tokenizer"), fields.where("pre_tokenizer")));
    FOURFOLD_TRY(
        made->model_, token_model_of(json["model"], made->pre_tokenizers_.ends_in_letters, fields.where("model")));
    made->end_ = made->model_.vocabulary.end();
    FOURFOLD_CHECK(made->read_added(member(json, "added_tokens"), fields.where("added_tokens")));
    FOURFOLD_CHECK(made->read_template(member(json, "post_processor"), fields.where("post_processor")));
    return std::shared_ptr<const Tokenizer>(made);
}

Expected<void> Tokenizer::read_added(const Json& json, const std::string& where)
{
    FOURFOLD_TRY(const std::vector<AddedTokens::Token> tokens, AddedTokens::read(json, where));
    std::array<std::vector<AddedTokens::Token>, 2> kinds;
    std::array<std::vector<std::string>, 2> sought;
    Pieces pieces;
    for (const AddedTokens::Token& token : tokens) {
        std::string text = token.content;
        if (token.normalized)
            for (const auto& step : normalizers_)
                FOURFOLD_CHECK(step->apply(text, pieces));
        kinds[std::size_t(token.normalized)].push_back(token);
        sought[std::size_t(token.normalized)].push_back(std::move(text));
        model_.vocabulary.add(token.content, token.id);
        end_ = std::max(end_, token.id + 1);
    }
    raw_ = AddedTokens(kinds[0], sought[0]);
    normalized_ = AddedTokens(kinds[1], sought[1]);
    return {};
}

Expected<void> Tokenizer::read_template(const Json& json, const std::string& where)
{
    if (json.is_null())
        return {};
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    FOURFOLD_TRY(const std::string type, fields.text("type"));
    if (type == "ByteLevel")
        return {}; // moves offsets alone
    if (type == "Sequence") {
        for (const Json& step : member(json, "processors"))
            FOURFOLD_CHECK(read_template(step, fields.where("processors")));
        return {};
    }
    if (type == "BertProcessing" || type == "RobertaProcessing") {
        for (const char* const key : {"cls", "sep"}) {
            const Json& token = member(json, key);
            if (!token.is_array() || token.size() != 2 || !is_id(token[1], end_))
                return fields.problem(key, "expected a token and its id in the vocabulary");
            (key[0] == 'c' ? before_ : behind_).push_back(token[1].get<std::uint32_t>());
        }
        return {};
    }
    if (type != "TemplateProcessing")
        return Problem{ProblemCode::unsupported, "post-processors of type " + in_quotes(type) + " are not known here",
            "", fields.where("type")};
    bool behind = false;
    for (const Json& part : member(json, "single")) {
        if (part.contains("Sequence")) {
            behind = true;
            continue;
        }
        const Json& special = member(part, "SpecialToken");
        const Json& said = member(special, "id");
        const std::string name = said.is_string() ? said.get<std::string>() : "";
        const Json& ids = member(member(member(json, "special_tokens"), name.c_str()), "ids");
        if (!ids.is_array())
            return fields.problem("single", "expected special tokens with their ids, found " + in_quotes(name));
        for (const Json& id : ids) {
            if (!is_id(id, end_))
                return fields.problem(
                    "special_tokens", "expected ids of the vocabulary as those of " + in_quotes(name));
            (behind ? behind_ : before_).push_back(id.get<std::uint32_t>());
        }
    }
    return {};
}

std::optional<std::uint32_t> Tokenizer::id_of(std::string_view token) const
{
    return model_.vocabulary.id_of(token);
}

Expected<void> Encoder::encode(std::string_view text, std::vector<std::uint32_t>& ids)
{
    if (tokenizer_->raw_.empty())
        return encode_part(text, true, ids);
    std::vector<AddedTokens::Part> parts;
    tokenizer_->raw_.split(text, parts);
    for (const AddedTokens::Part& part : parts) {
        if (part.id)
            ids.push_back(*part.id);
        else
            FOURFOLD_CHECK(encode_part(part.text, part.text.data() == text.data(), ids));
    }
    return {};
}

Expected<void> Encoder::encode_part(std::string_view text, bool first, std::vector<std::uint32_t>& ids)
{
    std::string rewritten;
    if (!tokenizer_->normalizers_.empty()) {
        rewritten = text;
        pieces_.allow_growth_of(text.size());
        for (const auto& step : tokenizer_->normalizers_)
            FOURFOLD_CHECK(step->apply(rewritten, pieces_));
        text = rewritten;
    }
    if (tokenizer_->normalized_.empty())
        return encode_words(text, first, ids);
    std::vector<AddedTokens::Part> parts;
    tokenizer_->normalized_.split(text, parts);
    for (const AddedTokens::Part& part : parts) {
        if (part.id)
            ids.push_back(*part.id);
        else
            FOURFOLD_CHECK(encode_words(part.text, first && part.text.data() == text.data(), ids));
    }
    return {};
}

Expected<void> Encoder::encode_words(std::string_view text, bool first, std::vector<std::uint32_t>& ids)
{
    pieces_.arena.clear();
    pieces_.all.clear();
    if (!text.empty())
        pieces_.all.push_back({text, first});
    for (const auto& step : tokenizer_->pre_tokenizers_.steps) {
        pieces_.next.clear();
        for (const Piece& piece : pieces_.all)
            FOURFOLD_CHECK(step->cut(piece, pieces_, spans_));
        pieces_.all.swap(pieces_.next);
    }
    for (const Piece& piece : pieces_.all)
        FOURFOLD_CHECK(encode_word(piece.text, ids));
    return {};
}

Expected<void> Encoder::encode_word(std::string_view word, std::vector<std::uint32_t>& ids)
{
    constexpr std::size_t kLongestKnown = 64, kMostKnown = std::size_t(1) << 18;
    const bool remember = word.size() <= kLongestKnown;
    if (remember) {
        if (const auto known = known_.find(word); known != known_.end()) {
            ids.insert(ids.end(), known->second.begin(), known->second.end());
            return {};
        }
    }
    const std::size_t before = ids.size();
    const bool as_letters = tokenizer_->pre_tokenizers_.ends_in_letters && !tokenizer_->model_.takes_bytes;
    FOURFOLD_CHECK(as_letters ? tokenizer_->model_.model->tokens(letters_of_bytes(word), ids)
                              : tokenizer_->model_.model->tokens(word, ids));
    if (remember) {
        if (known_.size() >= kMostKnown)
            known_.clear();
        known_.emplace(word, std::vector<std::uint32_t>(ids.begin() + std::ptrdiff_t(before), ids.end()));
    }
    return {};
}

} // namespace fourfold
