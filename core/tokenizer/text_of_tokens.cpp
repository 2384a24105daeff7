// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/text_of_tokens.h"

#include "core/base/input_file.h"
#include "core/base/json_fields.h"
#include "core/tokenizer/added_tokens.h"
#include "core/tokenizer/byte_letters.h"
#include "core/tokenizer/normalizers.h"

#include <charconv>

namespace fourfold {

namespace {
constexpr std::size_t kMostBytes = std::size_t(256) << 20; // as Tokenizer::open
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
using Texts = std::vector<std::string>;

// U+FFFD for each longest part that begins a character and does not go on as one, and for each other stray byte (as
// Rust's from_utf8_lossy; Unicode 15, section 3.9, "substitution of maximal subparts").
std::string lossy(std::string_view bytes)
{
    constexpr std::array<std::string_view, 3> kRest{"\x80", "\x80\x80", "\x80\x80\x80"};
    std::string out;
    while (!bytes.empty()) {
        std::size_t length = 1;
        while (length < 4 && length < bytes.size() && !is_utf8(bytes.substr(0, length)))
            ++length;
        if (is_utf8(bytes.substr(0, length))) {
            out += bytes.substr(0, length);
            bytes.remove_prefix(length);
            continue;
        }
        // The longest beginning that some continuation bytes would make whole.
        const auto begins_one = [&](std::size_t count) {
            for (const std::string_view rest : kRest)
                for (const char first : {'\x80', '\x90', '\xA0', '\xBF'}) {
                    std::string whole(bytes.substr(0, count));
                    whole += first;
                    whole += rest.substr(1);
                    if (is_utf8(whole))
                        return true;
                }
            return false;
        };
        for (length = std::min<std::size_t>(3, bytes.size()); length > 1 && !begins_one(length);)
            --length;
        out += kReplacement;
        bytes.remove_prefix(length);
    }
    return out;
}

void replace_all(std::string& text, std::string_view sought, std::string_view by)
{
    for (std::size_t at = text.find(sought); at != std::string::npos && !sought.empty();
         at = text.find(sought, at + by.size()))
        text.replace(at, sought.size(), by);
}

std::string joined(const Texts& texts)
{
    std::string all;
    for (const std::string& text : texts)
        all += text;
    return all;
}

void byte_level(Texts& texts)
{
    std::string bytes;
    for (const std::string& text : texts)
        bytes += bytes_of_letters(text).value_or(text);
    texts = {lossy(bytes)};
}

// The byte of "<0x0A>".
std::optional<char> byte_token(std::string_view text)
{
    unsigned value = 0;
    if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>')
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, value, 16);
    return error == std::errc() && end == text.data() + 5 ? std::optional(static_cast<char>(value)) : std::nullopt;
}

void byte_fallback(Texts& texts)
{
    Texts out;
    std::string bytes;
    const auto flush = [&] {
        if (is_utf8(bytes) && !bytes.empty())
            out.push_back(bytes);
        else
            out.insert(out.end(), bytes.size(), std::string(kReplacement));
        bytes.clear();
    };
    for (const std::string& text : texts) {
        if (const auto byte = byte_token(text)) {
            bytes += *byte;
            continue;
        }
        flush();
        out.push_back(text);
    }
    flush();
    texts = std::move(out);
}

void clean_up(std::string& text)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kPairs{
        {{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
            {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}}};
    for (const auto& [sought, by] : kPairs)
        replace_all(text, sought, by);
}

void word_pieces(Texts& texts, const std::string& prefix, bool cleanup)
{
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0 && texts[i].starts_with(prefix))
            texts[i].erase(0, prefix.size());
        else if (i > 0)
            texts[i].insert(0, " ");
        if (cleanup)
            clean_up(texts[i]);
    }
}

void strip(std::string& text, const std::string& content, int64_t start, int64_t stop)
{
    for (; start > 0 && !content.empty() && text.starts_with(content); --start)
        text.erase(0, content.size());
    for (; stop > 0 && !content.empty() && text.ends_with(content); --stop)
        text.resize(text.size() - content.size());
}

Expected<std::function<void(Texts&)>> replace_step(const Fields& fields)
{
    FOURFOLD_TRY(const Fields pattern, fields.object("pattern"));
    FOURFOLD_TRY(const std::string content, fields.text_or("content", ""));
    if (!pattern.has("String"))
        return Problem{ProblemCode::unsupported, "only the replacement of a string is known here, not of a pattern", "",
            fields.where("pattern")};
    FOURFOLD_TRY(const std::string sought, pattern.text("String"));
    return std::function<void(Texts&)>([sought, content](Texts& texts) {
        for (std::string& text : texts)
            replace_all(text, sought, content);
    });
}
} // namespace

Expected<void> TextOfTokens::add_steps(const Json& json, const std::string& where)
{
    if (json.is_null())
        return {};
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    FOURFOLD_TRY(const std::string type, fields.text("type"));
    if (type == "Sequence") {
        for (const Json& step : json.contains("decoders") ? json["decoders"] : Json::array())
            FOURFOLD_CHECK(add_steps(step, fields.where("decoders")));
    } else if (type == "ByteLevel") {
        steps_.emplace_back(byte_level);
    } else if (type == "ByteFallback") {
        steps_.emplace_back(byte_fallback);
    } else if (type == "Fuse") {
        steps_.emplace_back([](Texts& texts) { texts = {joined(texts)}; });
    } else if (type == "WordPiece") {
        FOURFOLD_TRY(const std::string prefix, fields.text_or("prefix", "##"));
        FOURFOLD_TRY(const bool cleanup, fields.boolean_or("cleanup", true));
        steps_.emplace_back([prefix, cleanup](Texts& texts) { word_pieces(texts, prefix, cleanup); });
    } else if (type == "Metaspace") {
        FOURFOLD_TRY(const std::string letter, fields.text_or("replacement", "\u2581"));
        FOURFOLD_TRY(const bool prefix, fields.boolean_or("add_prefix_space", true));
        FOURFOLD_TRY(const std::string scheme, fields.text_or("prepend_scheme", prefix ? "always" : "never"));
        steps_.emplace_back([letter, scheme](Texts& texts) {
            for (std::size_t i = 0; i < texts.size(); ++i)
                replace_all(texts[i], letter, i == 0 && scheme != "never" ? "" : " ");
        });
    } else if (type == "BPEDecoder") {
        FOURFOLD_TRY(const std::string suffix, fields.text_or("suffix", "</w>"));
        steps_.emplace_back([suffix](Texts& texts) {
            for (std::size_t i = 0; i < texts.size(); ++i)
                replace_all(texts[i], suffix, i + 1 == texts.size() ? "" : " ");
        });
    } else if (type == "Strip") {
        FOURFOLD_TRY(const std::string content, fields.text("content"));
        FOURFOLD_TRY(const int64_t start, fields.integer_or("start", 0, 0));
        FOURFOLD_TRY(const int64_t stop, fields.integer_or("stop", 0, 0));
        steps_.emplace_back([content, start, stop](Texts& texts) {
            for (std::string& text : texts)
                strip(text, content, start, stop);
        });
    } else if (type == "Replace") {
        FOURFOLD_TRY(Step step, replace_step(fields));
        steps_.push_back(std::move(step));
    } else {
        return Problem{ProblemCode::unsupported, "decoders of type " + in_quotes(type) + " are not known here", "",
            fields.where("type")};
    }
    return {};
}

Expected<TextOfTokens> TextOfTokens::open(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const Json json, read_json_input(file, kMostBytes));
    FOURFOLD_TRY(const Fields fields, Fields::of(json, file.string()));
    FOURFOLD_TRY(const Fields model, fields.object("model"));
    TextOfTokens made;
    // Vocabulary::read has its checks; here it is the other way round.
    const Json& vocabulary = model.has("vocab") ? model.json()["vocab"] : Json::array();
    std::uint32_t next = 0;
    for (const auto& [token, id] : vocabulary.items()) {
        if (vocabulary.is_object() && id.is_number_unsigned())
            made.tokens_[id.get<std::uint32_t>()] = token;
        else if (vocabulary.is_array() && id.is_array() && !id.empty() && id[0].is_string())
            made.tokens_[next++] = id[0].get<std::string>();
    }
    const Json& added = fields.has("added_tokens") ? json["added_tokens"] : Json::array();
    FOURFOLD_TRY(const auto tokens, AddedTokens::read(added, fields.where("added_tokens")));
    for (const AddedTokens::Token& token : tokens) {
        made.tokens_[token.id] = token.content;
        if (token.special)
            made.special_.insert(token.id);
    }
    if (fields.has("decoder"))
        FOURFOLD_CHECK(made.add_steps(json["decoder"], fields.where("decoder")));
    return made;
}

std::string TextOfTokens::text(std::span<const std::uint32_t> ids, bool special) const
{
    Texts texts;
    for (const std::uint32_t id : ids)
        if (const auto token = tokens_.find(id); token != tokens_.end() && (special || !special_.contains(id)))
            texts.push_back(token->second);
    if (steps_.empty()) {
        std::string all;
        for (const std::string& text : texts)
            all += (all.empty() ? "" : " ") + text;
        return all;
    }
    for (const Step& step : steps_)
        step(texts);
    return joined(texts);
}

} // namespace fourfold
