// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/normalizers.h"

#include "core/base/json_fields.h"
#include "core/tokenizer/byte_letters.h"
#include "core/tokenizer/precompiled_map.h"

#include <functional>

namespace fourfold {

Expected<void> Pattern::find(std::string_view in, Pieces& pieces, std::vector<TextSpan>& spans) const
{
    if (expression)
        return spans_of_matches(in, *expression, pieces, spans);
    spans_of_text(in, text, spans);
    return {};
}

Expected<Pattern> pattern_of(const Json& json, const std::string& where)
{
    Pattern pattern;
    if (json.is_string()) {
        pattern.text = json.get<std::string>();
        return pattern;
    }
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    if (fields.has("String")) {
        FOURFOLD_TRY(pattern.text, fields.text("String"));
        return pattern;
    }
    FOURFOLD_TRY(const std::string expression, fields.text("Regex"));
    FOURFOLD_TRY(auto compiled, RegularExpression::compile(expression, fields.where("Regex")));
    pattern.expression = std::make_shared<const RegularExpression>(std::move(compiled));
    return pattern;
}

namespace {
// A step that is a function of the text alone.
class Rewrite : public Normalizer {
public:
    explicit Rewrite(std::function<void(std::string&)> rewrite)
        : rewrite_(std::move(rewrite))
    {
    }
    Expected<void> apply(std::string& text, Pieces& /*pieces*/) const override
    {
        rewrite_(text);
        return {};
    }

private:
    std::function<void(std::string&)> rewrite_;
};

class Replace : public Normalizer {
public:
    Replace(Pattern pattern, std::string content, std::string where)
        : pattern_(std::move(pattern))
        , content_(std::move(content))
        , where_(std::move(where))
    {
    }
    Expected<void> apply(std::string& text, Pieces& pieces) const override
    {
        std::vector<TextSpan> spans;
        FOURFOLD_CHECK(pattern_.find(text, pieces, spans));
        std::string out;
        out.reserve(text.size());
        for (const TextSpan& span : spans) {
            out += span.match ? std::string_view(content_)
                              : std::string_view(text).substr(span.begin, span.end - span.begin);
            if (out.size() > pieces.room)
                return Problem{ProblemCode::bad_input,
                    "a text grows to more than " + std::to_string(pieces.room >> 20) + " MiB", "", where_};
        }
        text = std::move(out);
        return {};
    }

private:
    Pattern pattern_;
    std::string content_, where_;
};

// Puts together what `each` makes of every character.
template <typename Each>
void rewrite_characters(std::string& text, const Each& each)
{
    std::string out;
    out.reserve(text.size());
    unicode::Characters characters(text);
    for (char32_t c = 0; characters.next(c);)
        each(out, c);
    text = std::move(out);
}

template <typename Drop>
void drop_characters(std::string& text, const Drop& drop)
{
    rewrite_characters(text, [&](std::string& out, char32_t c) {
        if (!drop(c))
            unicode::append(out, c);
    });
}

void lower_case_of(std::string& text)
{
    rewrite_characters(text, [](std::string& out, char32_t c) { unicode::append_lower_case(out, c); });
}

struct Strip {
    bool left = true, right = true;

    void operator()(std::string& text) const
    {
        // The blanks before the first other character, and behind the last.
        std::size_t begin = text.size(), end = 0, at = 0;
        unicode::Characters characters(text);
        for (char32_t c = 0; at = characters.at(), characters.next(c);) {
            if (unicode::is_white_space(c))
                continue;
            begin = std::min(begin, at);
            end = characters.at();
        }
        const std::size_t from = left ? begin : 0, to = right ? std::max(end, from) : text.size();
        text = text.substr(from, to - from);
    }
};

// As `BasicTokenizer` of google-research/bert: controls away, blanks around Chinese characters, accents away.
struct Bert {
    bool clean = true, chinese = true, strip_accents = true, lower_case = true;

    void operator()(std::string& text) const
    {
        constexpr char32_t kReplacement = 0xFFFD;
        if (clean)
            rewrite_characters(text, [](std::string& out, char32_t c) {
                const bool line = c == '\t' || c == '\n' || c == '\r';
                if (c == 0 || c == kReplacement || (!line && unicode::is_other(c)))
                    return;
                unicode::append(out, line || unicode::is_white_space(c) ? U' ' : c);
            });
        if (chinese)
            rewrite_characters(text, [](std::string& out, char32_t c) {
                const char* const blank = unicode::is_chinese(c) ? " " : "";
                out += blank;
                unicode::append(out, c);
                out += blank;
            });
        if (strip_accents) {
            text = unicode::normalised(text, unicode::Form::nfd);
            drop_characters(text, unicode::is_nonspacing_mark);
        }
        if (lower_case)
            lower_case_of(text);
    }
};

// As `nmt_nfkc` of SentencePiece without its NFKC.
void nmt(std::string& text)
{
    rewrite_characters(text, [](std::string& out, char32_t c) {
        const bool dropped
            = (c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
        const bool blank = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F)
            || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
        if (!dropped)
            unicode::append(out, blank ? U' ' : c);
    });
}

Expected<std::function<void(std::string&)>> rewrite_of(const std::string& type, const Fields& fields)
{
    using Form = unicode::Form;
    const auto form
        = [](Form which) { return [which](std::string& text) { text = unicode::normalised(text, which); }; };
    if (type == "NFC")
        return {form(Form::nfc)};
    if (type == "NFD")
        return {form(Form::nfd)};
    if (type == "NFKC")
        return {form(Form::nfkc)};
    if (type == "NFKD")
        return {form(Form::nfkd)};
    if (type == "Lowercase")
        return {lower_case_of};
    if (type == "StripAccents")
        return {[](std::string& text) { drop_characters(text, unicode::is_mark); }};
    if (type == "Nmt")
        return {nmt};
    if (type == "ByteLevel")
        return {[](std::string& text) { text = letters_of_bytes(text); }};
    if (type == "Strip") {
        Strip strip;
        FOURFOLD_TRY(strip.left, fields.boolean_or("strip_left", true));
        FOURFOLD_TRY(strip.right, fields.boolean_or("strip_right", true));
        return {strip};
    }
    if (type == "Prepend") {
        FOURFOLD_TRY(const std::string before, fields.text("prepend"));
        return {[before](std::string& text) {
            if (!text.empty())
                text.insert(0, before);
        }};
    }
    if (type == "BertNormalizer") {
        Bert bert;
        FOURFOLD_TRY(bert.clean, fields.boolean_or("clean_text", true));
        FOURFOLD_TRY(bert.chinese, fields.boolean_or("handle_chinese_chars", true));
        FOURFOLD_TRY(bert.lower_case, fields.boolean_or("lowercase", true));
        FOURFOLD_TRY(bert.strip_accents, fields.boolean_or("strip_accents", bert.lower_case));
        return {bert};
    }
    if (type == "Precompiled") {
        FOURFOLD_TRY(const std::string base64, fields.text_or("precompiled_charsmap", ""));
        FOURFOLD_TRY(const auto map, PrecompiledMap::of_base64(base64, fields.where("precompiled_charsmap")));
        return {[map](std::string& text) { text = map->apply(text); }};
    }
    return Problem{ProblemCode::unsupported, "normalizers of type " + in_quotes(type) + " are not known here", "",
        fields.where("type")};
}
} // namespace

Expected<void> add_normalizers(const Json& json, const std::string& where, Normalizers& steps)
{
    if (json.is_null())
        return {};
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    FOURFOLD_TRY(const std::string type, fields.text("type"));
    if (type == "Sequence") {
        if (!fields.has("normalizers") || !fields.json()["normalizers"].is_array())
            return fields.problem("normalizers", "expected an array");
        std::size_t i = 0;
        for (const Json& step : fields.json()["normalizers"])
            FOURFOLD_CHECK(add_normalizers(step, fields.where("normalizers") + "[" + std::to_string(i++) + "]", steps));
        return {};
    }
    if (type == "Replace") {
        if (!fields.has("pattern"))
            return fields.missing("pattern", "a string or an expression");
        FOURFOLD_TRY(Pattern pattern, pattern_of(fields.json()["pattern"], fields.where("pattern")));
        FOURFOLD_TRY(std::string content, fields.text("content"));
        steps.push_back(std::make_unique<Replace>(std::move(pattern), std::move(content), where));
        return {};
    }
    FOURFOLD_TRY(auto rewrite, rewrite_of(type, fields));
    steps.push_back(std::make_unique<Rewrite>(std::move(rewrite)));
    return {};
}

} // namespace fourfold
