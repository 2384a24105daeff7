// SPDX-License-Identifier: GPL-3.0-or-later
// The names that an expression may use: what constraints, filters and objectives are written over.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

enum class ValueKind { number, truth, text };

// A field's value travels as a double: a number as it is (NaN where not known), a truth value as 0 or 1, a text as the
// index of its spelling in `spellings`.
struct ExpressionField {
    std::string name; // lower case
    ValueKind kind = ValueKind::number;
    std::string unit; // empty where the field is a count
    std::string meaning;
    std::vector<std::string> spellings{}; // of a text field: every value it can have
    std::vector<std::string> aliases{}; // other names for the same field, lower case
};

// Fields in a fixed order; a field's index is its slot in the values that an expression is evaluated with.
class FieldSet {
public:
    explicit FieldSet(std::vector<ExpressionField> fields)
        : fields_(std::move(fields))
    {
    }
    [[nodiscard]] const std::vector<ExpressionField>& fields() const { return fields_; }
    // Slot of a name or alias, upper and lower case alike.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
    // Up to three names close to `word`, best first.
    [[nodiscard]] std::vector<std::string> nearest(std::string_view word) const;

private:
    std::vector<ExpressionField> fields_;
};

} // namespace fourfold
