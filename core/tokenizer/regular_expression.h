// SPDX-License-Identifier: GPL-3.0-or-later
// The regular expressions of tokenizer.json (Oniguruma's, of Hugging Face's tokenizers), matched by PCRE2 and its
// just-in-time compiler (oniguruma_pattern.h says where the two libraries differ).
#pragma once

#include "core/base/expected.h"

#include <memory>
#include <string>
#include <string_view>

namespace fourfold {

// Immutable; several threads may search at once.
class RegularExpression {
public:
    // Fails (bad_input) with PCRE2's words, or as pcre2_pattern() does.
    static Expected<RegularExpression> compile(const std::string& pattern, const std::string& where);

    // Whether PCRE2 takes this pattern of its own.
    static bool can_be_used(const std::string& pcre2);

    struct Match {
        std::size_t begin = 0, end = 0;
    };
    // What a thread needs to search; made by whoever searches, for any expression.
    class Workspace {
    public:
        Workspace();
        ~Workspace();
        Workspace(const Workspace&) = delete;
        Workspace& operator=(const Workspace&) = delete;

    private:
        friend class RegularExpression;
        struct State;
        std::unique_ptr<State> state_;
    };
    // The first match that begins at byte `from` or later of well-formed UTF-8; `found` false without one. Fails where
    // the expression needs more steps than PCRE2 allows.
    Expected<void> search(
        std::string_view text, std::size_t from, Workspace& workspace, bool& found, Match& match) const;

private:
    explicit RegularExpression(std::shared_ptr<const void> code, std::string where)
        : code_(std::move(code))
        , where_(std::move(where))
    {
    }

    std::shared_ptr<const void> code_;
    std::string where_;
};

} // namespace fourfold
