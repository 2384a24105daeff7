// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/regular_expression.h"

#include "core/base/text.h"
#include "core/tokenizer/oniguruma_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <array>
#include <pcre2.h>

namespace fourfold {

namespace {
// Lines end at line feeds alone, and ^ and $ stand at each of them, as Oniguruma has it.
pcre2_code* compiled(const std::string& pattern, int& error)
{
    pcre2_compile_context* const context = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    PCRE2_SIZE at = 0;
    pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &at, context);
    pcre2_compile_context_free(context);
    return code;
}

constexpr std::size_t kJitStackFirst = std::size_t(32) << 10, kJitStackMost = std::size_t(8) << 20;
} // namespace

bool RegularExpression::can_be_used(const std::string& pcre2)
{
    int error = 0;
    pcre2_code* const code = compiled(pcre2, error);
    pcre2_code_free(code);
    return code != nullptr;
}

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
    FOURFOLD_TRY(const std::string text, pcre2_pattern(pattern, where));
    int error = 0;
    pcre2_code* code = compiled(text, error);
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
