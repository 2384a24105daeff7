// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/added_tokens.h"

#include "core/base/json_fields.h"

namespace fourfold {

Expected<std::vector<AddedTokens::Token>> AddedTokens::read(const Json& json, const std::string& where)
{
    std::vector<Token> tokens;
    if (json.is_null())
        return tokens;
    if (!json.is_array())
        return Problem{ProblemCode::bad_input, "expected an array of tokens", "", where};
    for (const Json& entry : json) {
        FOURFOLD_TRY(const Fields fields, Fields::of(entry, where + "[" + std::to_string(tokens.size()) + "]"));
        Token token;
        FOURFOLD_TRY(token.content, fields.text("content"));
        FOURFOLD_TRY(const int id, fields.small_integer("id", 0));
        token.id = static_cast<std::uint32_t>(id);
        FOURFOLD_TRY(token.special, fields.boolean_or("special", false));
        FOURFOLD_TRY(token.single_word, fields.boolean_or("single_word", false));
        FOURFOLD_TRY(token.lstrip, fields.boolean_or("lstrip", false));
        FOURFOLD_TRY(token.rstrip, fields.boolean_or("rstrip", false));
        FOURFOLD_TRY(token.normalized, fields.boolean_or("normalized", !token.special));
        tokens.push_back(std::move(token));
    }
    return tokens;
}

AddedTokens::AddedTokens(const std::vector<Token>& tokens, const std::vector<std::string>& sought)
{
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (sought[i].empty())
            continue;
        begins_.set(static_cast<unsigned char>(sought[i].front()));
        std::uint32_t& place = trie_.number_of(sought[i]);
        if (place == ByteTrie::kNone)
            place = static_cast<std::uint32_t>(tokens_.size());
        tokens_.push_back(tokens[i]);
        lengths_.push_back(sought[i].size());
    }
}

std::optional<std::size_t> AddedTokens::longest_at(std::string_view text, std::size_t at) const
{
    std::optional<std::size_t> longest;
    std::uint32_t node = 0;
    for (; at < text.size() && trie_.step(node, text[at]); ++at)
        if (trie_.at(node) != ByteTrie::kNone)
            longest = trie_.at(node);
    return longest;
}

namespace {
// The bytes of blanks at the end, and at the beginning, of a text.
std::size_t blanks_at_end(std::string_view text)
{
    unicode::Characters characters(text);
    std::size_t behind = 0;
    for (char32_t c = 0; characters.next(c);)
        if (!unicode::is_white_space(c))
            behind = characters.at();
    return text.size() - behind;
}

std::size_t blanks_at_begin(std::string_view text)
{
    unicode::Characters characters(text);
    std::size_t at = 0;
    for (char32_t c = 0; at = characters.at(), characters.next(c);)
        if (!unicode::is_white_space(c))
            return at;
    return text.size();
}

bool ends_in_word(std::string_view text)
{
    std::size_t at = text.size();
    while (at > 0 && (static_cast<unsigned char>(text[at - 1]) & 0xC0) == 0x80)
        --at;
    char32_t last = 0;
    return at > 0 && unicode::Characters(text.substr(at - 1)).next(last) && unicode::is_word(last);
}

bool begins_with_word(std::string_view text)
{
    char32_t first = 0;
    return unicode::Characters(text).next(first) && unicode::is_word(first);
}
} // namespace

void AddedTokens::split(std::string_view text, std::vector<Part>& parts) const
{
    parts.clear();
    std::size_t begun = 0; // of what no token has taken yet
    for (std::size_t at = 0; at < text.size();) {
        const auto found = begins_[static_cast<unsigned char>(text[at])] ? longest_at(text, at) : std::nullopt;
        if (!found) {
            ++at;
            continue;
        }
        const Token& token = tokens_[*found];
        std::size_t begin = at, end = at + lengths_[*found];
        at = end;
        if (token.single_word && (ends_in_word(text.substr(0, begin)) || begins_with_word(text.substr(end))))
            continue;
        if (begin < begun)
            continue; // within the blanks that the last token took in
        if (token.lstrip)
            begin -= blanks_at_end(text.substr(begun, begin - begun));
        if (token.rstrip)
            end += blanks_at_begin(text.substr(end));
        if (begin > begun)
            parts.push_back({text.substr(begun, begin - begun), std::nullopt});
        parts.push_back({text.substr(begin, end - begin), token.id});
        begun = end;
    }
    if (begun < text.size())
        parts.push_back({text.substr(begun), std::nullopt});
}

} // namespace fourfold
