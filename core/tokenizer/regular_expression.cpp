// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/regular_expression.h"

#include "core/base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <array>
#include <pcre2.h>

namespace fourfold {

namespace {
// Members of the classes; the same as unicode::is_white_space() and is_word().
constexpr std::string_view kSpace
    = R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kWord
    = R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";
constexpr std::string_view kDigit = R"(\p{Nd})";

std::string_view members_of(char letter)
{
    switch (letter) {
    case 's':
    case 'S':
        return kSpace;
    case 'w':
    case 'W':
        return kWord;
    case 'd':
    case 'D':
        return kDigit;
    default:
        return {};
    }
}

// The pattern as PCRE2 has it. Within brackets a negated class (\S) keeps PCRE2's meaning, which the option UCP sets.
std::string translated(std::string_view pattern)
{
    std::string out;
    bool in_class = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size()) {
            const char letter = pattern[++i];
            const std::string_view members = members_of(letter);
            const bool negated = letter >= 'A' && letter <= 'Z';
            if (members.empty() || (negated && in_class)) {
                (out += c) += letter;
            } else if (in_class) {
                out += members;
            } else {
                ((out += negated ? "[^" : "[") += members) += ']';
            }
            continue;
        }
        if (c == '[')
            in_class = true;
        else if (c == ']')
            in_class = false;
        out += c;
    }
    return out;
}

constexpr std::size_t kJitStackFirst = std::size_t(32) << 10, kJitStackMost = std::size_t(8) << 20;
} // namespace

struct RegularExpression::Workspace::State {
    pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
    pcre2_match_context* context = pcre2_match_context_create(nullptr);
    pcre2_jit_stack* stack = pcre2_jit_stack_create(kJitStackFirst, kJitStackMost, nullptr);
};

RegularExpression::Workspace::Workspace()
    : state_(std::make_unique<State>())
{
    pcre2_jit_stack_assign(state_->context, nullptr, state_->stack);
}

RegularExpression::Workspace::~Workspace()
{
    pcre2_match_data_free(state_->data);
    pcre2_match_context_free(state_->context);
    pcre2_jit_stack_free(state_->stack);
}

Expected<RegularExpression> RegularExpression::compile(const std::string& pattern, const std::string& where)
{
    int error = 0;
    PCRE2_SIZE at = 0;
    const std::string text = translated(pattern);
    pcre2_code* code = pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
    if (code == nullptr) {
        std::array<PCRE2_UCHAR, 256> message{};
        pcre2_get_error_message(error, message.data(), message.size());
        return Problem{ProblemCode::bad_input,
            "the regular expression " + in_quotes(pattern)
                + " cannot be used: " + reinterpret_cast<char*>(message.data()),
            "", where};
    }
    // Without the compiler (a platform that it does not know) the same matches are found more slowly.
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    return RegularExpression(
        std::shared_ptr<const void>(
            code, [](const void* held) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(held))); }),
        where);
}

Expected<void> RegularExpression::search(
    std::string_view text, std::size_t from, Workspace& workspace, bool& found, Match& match) const
{
    const Workspace::State& state = *workspace.state_;
    const int result = pcre2_match(static_cast<const pcre2_code*>(code_.get()),
        reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, PCRE2_NO_UTF_CHECK, state.data, state.context);
    found = result >= 0;
    if (found) {
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state.data);
        match = {ends[0], ends[1]};
        return {};
    }
    if (result == PCRE2_ERROR_NOMATCH)
        return {};
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(result, message.data(), message.size());
    return Problem{ProblemCode::failed,
        std::string("its regular expression gave up on a text: ") + reinterpret_cast<char*>(message.data()), "",
        where_};
}

} // namespace fourfold
