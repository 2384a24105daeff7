// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/pre_tokenizers.h"

#include "core/base/json_fields.h"
#include "core/tokenizer/byte_letters.h"
#include "core/tokenizer/normalizers.h"

#include <functional>

namespace fourfold {

namespace {
class SplitPattern : public PreTokenizer {
public:
    SplitPattern(Pattern pattern, SplitBehavior behavior, bool invert = false)
        : pattern_(std::move(pattern))
        , behavior_(behavior)
        , invert_(invert)
    {
    }
    Expected<void> cut(const Piece& piece, Pieces& pieces, std::vector<TextSpan>& spans) const override
    {
        FOURFOLD_CHECK(pattern_.find(piece.text, pieces, spans));
        if (invert_)
            for (TextSpan& span : spans)
                span.match = !span.match;
        add_split(piece, spans, behavior_, pieces);
        return {};
    }

private:
    Pattern pattern_;
    SplitBehavior behavior_;
    bool invert_;
};

class SplitCharacters : public PreTokenizer {
public:
    SplitCharacters(std::function<bool(char32_t)> matches, SplitBehavior behavior)
        : matches_(std::move(matches))
        , behavior_(behavior)
    {
    }
    Expected<void> cut(const Piece& piece, Pieces& pieces, std::vector<TextSpan>& spans) const override
    {
        spans_of_characters(piece.text, spans, matches_);
        add_split(piece, spans, behavior_, pieces);
        return {};
    }

private:
    std::function<bool(char32_t)> matches_;
    SplitBehavior behavior_;
};

// GPT-2's: a blank before the first word of each piece.
class BlankBefore : public PreTokenizer {
public:
    Expected<void> cut(const Piece& piece, Pieces& pieces, std::vector<TextSpan>& /*spans*/) const override
    {
        const bool has = piece.text.starts_with(' ');
        pieces.add(has ? piece.text : pieces.keep(" " + std::string(piece.text)), piece.first);
        return {};
    }
};

// Bytes as letters, where further steps read them.
class Letters : public PreTokenizer {
public:
    Expected<void> cut(const Piece& piece, Pieces& pieces, std::vector<TextSpan>& /*spans*/) const override
    {
        pieces.add(pieces.keep(letters_of_bytes(piece.text)), piece.first);
        return {};
    }
};

// SentencePiece's: a sign for each blank and before the text; a word begins with it.
class Metaspace : public PreTokenizer {
public:
    enum class Prepend { always, first, never };
    Metaspace(std::string sign, Prepend prepend, bool split)
        : sign_(std::move(sign))
        , prepend_(prepend)
        , split_(split)
    {
    }
    Expected<void> cut(const Piece& piece, Pieces& pieces, std::vector<TextSpan>& spans) const override
    {
        std::string text;
        text.reserve(piece.text.size() * 2);
        for (const char c : piece.text) {
            if (c == ' ')
                text += sign_;
            else
                text += c;
        }
        if ((prepend_ == Prepend::always || (prepend_ == Prepend::first && piece.first)) && !text.starts_with(sign_))
            text.insert(0, sign_);
        const Piece marked{pieces.keep(std::move(text)), piece.first};
        if (!split_) {
            pieces.add(marked.text, marked.first);
            return {};
        }
        spans_of_text(marked.text, sign_, spans);
        add_split(marked, spans, SplitBehavior::merged_with_next, pieces);
        return {};
    }

private:
    std::string sign_;
    Prepend prepend_;
    bool split_;
};

Expected<Pattern> expression(const std::string& text, const std::string& where)
{
    FOURFOLD_TRY(auto compiled, RegularExpression::compile(text, where));
    return Pattern{"", std::make_shared<const RegularExpression>(std::move(compiled))};
}

// Reads objects into steps.
class Reader {
public:
    Expected<PreTokenizers> take(const Json& json, const std::string& where)
    {
        FOURFOLD_CHECK(read(json, where));
        if (last_is_letters_) {
            out_.steps.pop_back();
            out_.ends_in_letters = true;
        }
        return std::move(out_);
    }

private:
    template <typename Step, typename... Arguments>
    void add(Arguments&&... arguments)
    {
        out_.steps.push_back(std::make_unique<Step>(std::forward<Arguments>(arguments)...));
        last_is_letters_ = std::is_same_v<Step, Letters>;
    }

    Expected<void> byte_level(const Fields& fields)
    {
        FOURFOLD_TRY(const bool blank, fields.boolean_or("add_prefix_space", true));
        FOURFOLD_TRY(const bool cuts, fields.boolean_or("use_regex", true));
        if (blank)
            add<BlankBefore>();
        if (cuts) {
            FOURFOLD_TRY(Pattern words,
                expression(
                    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", fields.where()));
            add<SplitPattern>(std::move(words), SplitBehavior::isolated);
        }
        add<Letters>();
        return {};
    }

    Expected<void> metaspace(const Fields& fields)
    {
        FOURFOLD_TRY(std::string sign, fields.text_or("replacement", "\u2581"));
        // Older files say only whether there is a sign before each piece.
        FOURFOLD_TRY(const bool before, fields.boolean_or("add_prefix_space", true));
        FOURFOLD_TRY(const std::string scheme, fields.text_or("prepend_scheme", before ? "always" : "never"));
        FOURFOLD_TRY(const bool split, fields.boolean_or("split", true));
        const bool always = scheme == "always", first = scheme == "first";
        if (!always && !first && scheme != "never")
            return fields.wrong("prepend_scheme", "always, first or never");
        add<Metaspace>(std::move(sign),
            always      ? Metaspace::Prepend::always
                : first ? Metaspace::Prepend::first
                        : Metaspace::Prepend::never,
            split);
        return {};
    }

    Expected<void> split(const Fields& fields)
    {
        if (!fields.has("pattern"))
            return fields.missing("pattern", "a string or an expression");
        FOURFOLD_TRY(Pattern pattern, pattern_of(fields.json()["pattern"], fields.where("pattern")));
        FOURFOLD_TRY(const std::string word, fields.text("behavior"));
        FOURFOLD_TRY(const SplitBehavior behavior, split_behavior(word, fields.where("behavior")));
        FOURFOLD_TRY(const bool invert, fields.boolean_or("invert", false));
        add<SplitPattern>(std::move(pattern), behavior, invert);
        return {};
    }

    Expected<void> sequence(const Fields& fields)
    {
        if (!fields.has("pretokenizers") || !fields.json()["pretokenizers"].is_array())
            return fields.problem("pretokenizers", "expected an array");
        std::size_t i = 0;
        for (const Json& step : fields.json()["pretokenizers"])
            FOURFOLD_CHECK(read(step, fields.where("pretokenizers") + "[" + std::to_string(i++) + "]"));
        return {};
    }

    Expected<void> characters(const std::string& type, const Fields& fields)
    {
        if (type == "WhitespaceSplit") {
            add<SplitCharacters>(unicode::is_white_space, SplitBehavior::removed);
        } else if (type == "BertPreTokenizer") {
            add<SplitCharacters>(unicode::is_white_space, SplitBehavior::removed);
            add<SplitCharacters>(unicode::is_punctuation, SplitBehavior::isolated);
        } else if (type == "Digits") {
            FOURFOLD_TRY(const bool alone, fields.boolean_or("individual_digits", false));
            add<SplitCharacters>(unicode::is_number, alone ? SplitBehavior::isolated : SplitBehavior::contiguous);
        } else if (type == "Punctuation") {
            FOURFOLD_TRY(const std::string word, fields.text_or("behavior", "Isolated"));
            FOURFOLD_TRY(const SplitBehavior behavior, split_behavior(word, fields.where("behavior")));
            add<SplitCharacters>(unicode::is_punctuation, behavior);
        } else if (type == "CharDelimiterSplit") {
            FOURFOLD_TRY(const std::string text, fields.text("delimiter"));
            char32_t delimiter = 0;
            unicode::Characters(text).next(delimiter);
            add<SplitCharacters>([delimiter](char32_t c) { return c == delimiter; }, SplitBehavior::removed);
        } else {
            return Problem{ProblemCode::unsupported,
                "pre-tokenizers of type " + in_quotes(type) + " are not known here", "", fields.where("type")};
        }
        return {};
    }

    Expected<void> read(const Json& json, const std::string& where)
    {
        if (json.is_null())
            return {};
        FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
        FOURFOLD_TRY(const std::string type, fields.text("type"));
        if (type == "Sequence")
            return sequence(fields);
        if (type == "ByteLevel")
            return byte_level(fields);
        if (type == "Metaspace")
            return metaspace(fields);
        if (type == "Split")
            return split(fields);
        if (type == "Whitespace") {
            FOURFOLD_TRY(Pattern words, expression(R"(\w+|[^\w\s]+)", where));
            add<SplitPattern>(std::move(words), SplitBehavior::removed, true);
            return {};
        }
        return characters(type, fields);
    }

    PreTokenizers out_;
    bool last_is_letters_ = false;
};
} // namespace

Expected<PreTokenizers> pre_tokenizers_of(const Json& json, const std::string& where)
{
    return Reader().take(json, where);
}

} // namespace fourfold
