// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/model.h"

#include "core/tokenizer/byte_letters.h"

#include <algorithm>

namespace fourfold {

Expected<Vocabulary> Vocabulary::read(const Fields& model)
{
    Vocabulary vocabulary;
    const Json& json = model.has("vocab") ? model.json()["vocab"] : Json::array();
    if (json.empty() || !json.is_structured())
        return model.missing("vocab", "the tokens of the vocabulary");
    const std::string where = model.where("vocab");
    vocabulary.ids_.reserve(json.size());
    constexpr std::uint64_t kMostId = 0x7FFFFFFF;
    if (json.is_object()) {
        for (const auto& [token, id] : json.items()) {
            if (!id.is_number_unsigned() || id.get<std::uint64_t>() > kMostId)
                return Problem{
                    ProblemCode::bad_input, "expected a whole number as the id of " + in_quotes(token), "", where};
            vocabulary.add(token, id.get<std::uint32_t>());
        }
        return vocabulary;
    }
    std::uint32_t id = 0;
    for (const Json& entry : json) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
            return Problem{
                ProblemCode::bad_input, "expected a token and its score", "", where + "[" + std::to_string(id) + "]"};
        vocabulary.add(entry[0].get<std::string>(), id++);
    }
    return vocabulary;
}

Vocabulary Vocabulary::as_bytes() const
{
    Vocabulary bytes;
    bytes.ids_.reserve(ids_.size());
    for (const auto& [token, id] : ids_)
        bytes.add(bytes_of_letters(token).value_or(token), id);
    return bytes;
}

std::uint32_t Vocabulary::end() const
{
    std::uint32_t end = 0;
    for (const auto& [token, id] : ids_)
        end = std::max(end, id + 1);
    return end;
}

std::optional<std::vector<std::uint32_t>> Vocabulary::bytes() const
{
    constexpr int kBytes = 256;
    std::vector<std::uint32_t> ids;
    for (int byte = 0; byte < kBytes; ++byte) {
        const auto id = id_of(text_of("<0x%02X>", unsigned(byte)));
        if (!id)
            return std::nullopt;
        ids.push_back(*id);
    }
    return ids;
}

Expected<ModelAndVocabulary> token_model_of(const Json& json, bool letters, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    // Files of before 2021 do not name it.
    FOURFOLD_TRY(std::string type, fields.text_or("type", ""));
    if (type.empty())
        type = fields.has("merges") ? "BPE" : fields.has("unk_id") ? "Unigram" : "WordPiece";
    if (type == "BPE")
        return byte_pair_model(fields, letters);
    if (type == "Unigram")
        return unigram_model(fields);
    if (type == "WordPiece" || type == "WordLevel")
        return word_piece_model(fields);
    return Problem{ProblemCode::unsupported, "models of type " + in_quotes(type) + " are not known here",
        "use BPE, Unigram, WordPiece or WordLevel", fields.where("type")};
}

} // namespace fourfold
