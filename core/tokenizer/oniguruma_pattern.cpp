// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/oniguruma_pattern.h"

#include "core/base/text.h"
#include "core/tokenizer/regular_expression.h"

#include <algorithm>
#include <array>
#include <vector>

namespace fourfold {

namespace {
// What a letter behind a backslash stands for, within brackets; where it may be negated, `others` is the rest. They end
// in what cannot begin a range: a hyphen behind them is one.
struct Members {
    char letter;
    std::string_view these, others;
};
// The first three are the same as unicode::is_white_space(), is_word() and is_number(); their negations keep PCRE2's
// meaning, which the option UCP sets.
constexpr std::array kMembers{
    Members{'s', R"( \x{85}\x{a0}\x{1680}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{2000}-\x{200a}\t-\r)", R"(\S)"},
    Members{'w',
        R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})",
        R"(\W)"},
    Members{'d', R"(\p{Nd})", R"(\D)"},
    Members{'h', "0-9A-Fa-f", R"(\x{0}-/:-@G-`g-\x{10ffff})"},
};

const Members* members_of(char letter)
{
    const auto lower = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
    const auto* const found
        = std::ranges::find_if(kMembers, [lower](const Members& one) { return one.letter == lower; });
    return found == kMembers.end() ? nullptr : found;
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

class Translation {
public:
    Translation(std::string_view pattern, const std::string& where)
        : in_(pattern)
        , where_(where)
    {
    }

    Expected<std::string> take()
    {
        while (at_ < in_.size())
            FOURFOLD_CHECK(one());
        return std::move(out_);
    }

private:
    [[nodiscard]] Problem cannot(const std::string& what) const
    {
        return {ProblemCode::unsupported,
            "the regular expression " + in_quotes(std::string(in_)) + " has " + what + ", which is not known here", "",
            where_};
    }
    [[nodiscard]] char next(std::size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
    void copy(std::size_t count)
    {
        out_ += in_.substr(at_, count);
        at_ = std::min(at_ + count, in_.size());
    }

    Expected<void> one()
    {
        switch (next()) {
        case '\\':
            atom_ = out_.size();
            return escape(false);
        case '[':
            atom_ = out_.size();
            return set();
        case '(':
            return group();
        case ')':
            if (!groups_.empty()) {
                atom_ = groups_.back();
                groups_.pop_back();
            }
            copy(1);
            return {};
        case '{':
            return interval();
        case '*':
        case '+':
        case '?':
            copy(1);
            return {};
        default:
            atom_ = out_.size();
            copy(1);
            while ((static_cast<unsigned char>(next()) & 0xC0) == 0x80) // the rest of the character
                copy(1);
            return {};
        }
    }

    Expected<void> group()
    {
        if (next(1) == '?' && next(2) == '#') {
            comment();
            return {};
        }
        if (next(1) == '*')
            return cannot("a verb or a callout (*...)");
        groups_.push_back(out_.size());
        copy(1);
        if (next() != '?')
            return {};
        if (next(1) == '~')
            return cannot("an absent group (?~...)");
        copy(1);
        // Options: letters, of which m is PCRE2's s.
        constexpr std::string_view kOptions = "imx-";
        std::size_t end = at_;
        while (end < in_.size() && kOptions.find(in_[end]) != std::string_view::npos)
            ++end;
        if (end == at_)
            return next() == 's' ? cannot("the option s") : Expected<void>();
        if (end < in_.size() && in_[end] == 's')
            return cannot("the option s");
        for (; at_ < end; ++at_)
            out_ += in_[at_] == 'm' ? 's' : in_[at_];
        return {};
    }

    // Up to the first parenthesis without a backslash. One that does not end is left to PCRE2, which says so.
    void comment()
    {
        std::size_t end = at_ + 3;
        while (end < in_.size() && in_[end] != ')')
            end += in_[end] == '\\' ? 2 : 1;
        if (end >= in_.size()) {
            copy(in_.size() - at_);
            return;
        }
        at_ = end + 1;
        constexpr std::string_view kQuantifiers = "*+?{";
        if (kQuantifiers.find(next()) != std::string_view::npos && !out_.empty()) {
            out_.insert(atom_, "(?:"); // what follows repeats all of it, and is no part of a quantifier before
            out_ += ')';
        }
    }

    // {n}, {n,}, {,n} or {n,m} behind an atom; anything else is a brace.
    Expected<void> interval()
    {
        std::size_t end = at_ + 1;
        while (end < in_.size() && is_digit(in_[end]))
            ++end;
        const std::string_view first = in_.substr(at_ + 1, end - at_ - 1);
        const bool fixed = end < in_.size() && in_[end] == '}';
        const std::size_t comma = end;
        if (!fixed && end < in_.size() && in_[end] == ',') {
            ++end;
            while (end < in_.size() && is_digit(in_[end]))
                ++end;
        }
        const std::string_view last = fixed || end == comma ? "" : in_.substr(comma + 1, end - comma - 1);
        if (end >= in_.size() || in_[end] != '}' || (first.empty() && last.empty())) {
            atom_ = out_.size();
            out_ += "\\{";
            ++at_;
            return {};
        }
        at_ = end + 1;
        std::string times = "{";
        times += first.empty() ? "0" : first;
        if (!fixed)
            (times += ',') += last;
        out_ += times + "}";
        if (next() == '+' || (next() == '?' && fixed)) {
            out_.insert(atom_, "(?:");
            out_ += ')';
            copy(1);
        }
        return {};
    }

    Expected<void> escape(bool in_set)
    {
        const char letter = next(1);
        const bool negated = letter >= 'A' && letter <= 'Z';
        if (const Members* const members = members_of(letter)) {
            at_ += 2;
            if (in_set)
                out_ += negated ? members->others : members->these;
            else
                ((out_ += negated ? "[^" : "[") += members->these) += ']';
            return {};
        }
        switch (letter) {
        case 'v':
            out_ += R"(\x{0b})";
            at_ += 2;
            return {};
        case 'Q': // no more than letters
        case 'E':
        case 'V':
            out_ += letter;
            at_ += 2;
            return {};
        case 'C':
        case 'M':
            return cannot("a control or meta character \\" + std::string(1, letter) + "-");
        case 'u':
            if (in_.size() - at_ < 6 || in_.substr(at_ + 2, 4).find_first_not_of("0123456789abcdefABCDEF") != in_.npos)
                return cannot("\\u without four hexadecimal digits");
            ((out_ += "\\x{") += in_.substr(at_ + 2, 4)) += '}';
            at_ += 6;
            return {};
        case 'p':
        case 'P':
            property();
            return {};
        case 'g':
            if (next(2) != '<' && next(2) != '\'')
                return cannot("\\g without a name");
            break;
        default:
            break;
        }
        copy(2);
        while ((static_cast<unsigned char>(next()) & 0xC0) == 0x80) // the rest of a character behind the backslash
            copy(1);
        constexpr std::string_view kBraced = "xok";
        if (kBraced.find(letter) != std::string_view::npos && next() == '{') {
            const std::size_t end = in_.find('}', at_);
            copy(end == std::string_view::npos ? in_.size() - at_ : end + 1 - at_);
        }
        return {};
    }

    // A name may be that of a script, which is asked for as such; PCRE2 says whether there is one.
    void property()
    {
        const std::size_t end = next(2) == '{' ? in_.find('}', at_) : std::string_view::npos;
        if (end == std::string_view::npos) {
            copy(2);
            return;
        }
        std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
        std::string head(in_.substr(at_, 3));
        if (name.starts_with('^')) {
            head += '^';
            name.remove_prefix(1);
        }
        const std::string script = head + "sc:" + std::string(name) + "}"; // since PCRE2 10.40
        out_ += RegularExpression::can_be_used(script) ? script : head + std::string(name) + "}";
        at_ = end + 1;
    }

    Expected<void> set()
    {
        copy(1);
        if (next() == '^')
            copy(1);
        if (next() == ']') { // the first is a member
            out_ += R"(\])";
            ++at_;
        }
        while (at_ < in_.size() && next() != ']') {
            if (next() == '[' && next(1) == ':' && in_.find(":]", at_ + 2) != std::string_view::npos) {
                copy(in_.find(":]", at_ + 2) + 2 - at_);
            } else if (next() == '[') {
                return cannot("a set within a set");
            } else if (next() == '&' && next(1) == '&') {
                return cannot("an intersection of sets (&&)");
            } else if (next() == '\\') {
                FOURFOLD_CHECK(escape(true));
            } else {
                copy(1);
            }
        }
        copy(1);
        return {};
    }

    std::string_view in_;
    const std::string& where_;
    std::string out_;
    std::size_t at_ = 0, atom_ = 0; // atom_: where what a quantifier repeats begins, in out_
    std::vector<std::size_t> groups_; // where those that are open begin
};

} // namespace

Expected<std::string> pcre2_pattern(std::string_view oniguruma, const std::string& where)
{
    return Translation(oniguruma, where).take();
}

} // namespace fourfold
