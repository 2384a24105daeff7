// SPDX-License-Identifier: GPL-3.0-or-later
// The one language of constraints, filters and objectives, in the command line and in the desktop:
//
//   dp % 4 == 0 and nodes <= 48          and or not, also && || !
//   8 <= tp <= 16                        comparisons chain: == != < <= > >= (one = is read as ==)
//   (heads / tp) * micro_batch % 4 == 0  + - * / %, from left to right where they bind alike
//   recompute in (none, selective)       text values as they stand in a plan, with or without quotes
//   max(memory_gib, 40) < 0.9 * memory_capacity_gib
//
// Functions: abs, ceil, floor, log2, max, min, round, sqrt. A field that is not known makes every comparison with it
// false. Types are checked when an expression is parsed; evaluating cannot fail.
#pragma once

#include "core/base/expected.h"
#include "core/expression/fields.h"

#include <cstdint>
#include <span>

namespace fourfold {

// What keeps a text from being an expression, and where: bytes [position, position + length) of the text. A length of 0
// means "before this character"; at the end of the text, position is its size.
struct ExpressionError {
    std::size_t position = 0, length = 0;
    std::string message; // "unknown field "dpp""
    std::string hint; // "did you mean dp?"; may be empty
};

// What a field may be: from `low` to `high`, and not known (NaN) where `unknown`. Empty, certainly not known, where low
// is above high.
struct ValueRange {
    double low = 0, high = 0;
    bool unknown = false;
    [[nodiscard]] bool is_empty() const { return low > high; }
};

class Expression {
public:
    // The text has `kind` for constraints and filters (truth) and for objectives (number).
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] ValueKind kind() const { return kind_; }
    // Slots of the fields that it reads, ascending, each once.
    [[nodiscard]] const std::vector<std::size_t>& reads() const { return slots_; }

    // `values` by slot of the FieldSet that the expression was parsed with. A truth value is 0 or 1.
    [[nodiscard]] double value(std::span<const double> values) const;
    [[nodiscard]] bool holds(std::span<const double> values) const { return value(values) != 0; }
    // How far a truth expression is from holding: 0 where it holds; for a comparison the distance between its sides (or
    // 1 where no distance can be told), for `and` the largest of its sides, for `or` the smallest.
    [[nodiscard]] double miss(std::span<const double> values) const;

    // What is certain of a truth expression where fields are only known to lie in ranges, by slot. It may take more for
    // possible than is: each field counts by itself wherever it stands.
    struct Outlook {
        bool must_hold = false, may_hold = true;
        double least_miss = 0; // miss() is at least this; above 0 where it cannot hold
    };
    [[nodiscard]] Outlook outlook(std::span<const ValueRange> ranges) const;

    // One instruction of the postfix program; the parser's business. Grouped by the number of values they take.
    enum class Op : std::uint8_t {
        constant,
        field,
        negate,
        abs,
        ceil,
        floor,
        log2,
        round,
        sqrt,
        opposite,
        add,
        subtract,
        multiply,
        divide,
        modulo,
        min,
        max,
        equal,
        unequal,
        less,
        less_equal,
        greater,
        greater_equal,
        both,
        either,
    };
    struct Step {
        Op op = Op::constant;
        std::size_t slot = 0; // field
        // constant: its value; field: 1 for a truth value; comparison: 1 where the sides are no numbers.
        double constant = 0;
    };

private:
    friend class ExpressionParser;
    std::string text_;
    ValueKind kind_ = ValueKind::truth;
    std::vector<std::size_t> slots_;
    std::vector<Step> steps_;
    std::size_t depth_ = 0; // of the stack that evaluation needs
};

inline constexpr std::size_t kMaxExpressionBytes = 10'000;

// Parses `text` as an expression of `kind` (truth or number). The Problem names `where` ("--constraint"), the character
// (counted from 1) and what was expected; `error`, where given, says the same to an editor.
Expected<Expression> parse_expression(const std::string& text, ValueKind kind, const FieldSet& fields,
    const std::string& where, ExpressionError* error = nullptr);

// What may be typed at byte `cursor` of `text`: fields, functions, text values and words that start as the word before
// the cursor does. [begin, cursor) is what a choice replaces.
struct Completions {
    std::size_t begin = 0;
    std::vector<std::string> words; // sorted; fields first
};
Completions complete_expression(const std::string& text, std::size_t cursor, const FieldSet& fields);

} // namespace fourfold
