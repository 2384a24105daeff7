// SPDX-License-Identifier: GPL-3.0-or-later
// The cells of one row, with their stand-ins: typed access that notes every cell that is not what it should be.
#pragma once

#include "core/base/problem.h"
#include "core/calibration/sources.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fourfold {

// Columns that a table must have, and all that are read.
const std::vector<std::string>& required_columns();
bool is_known_column(const std::string& column);
// Nothing where a source or a row may tell the field of what its table does not print; else why not. What was measured
// is told by the table alone.
std::optional<Problem> not_told_beside(const std::string& field, const std::string& where);
// The same of a column in which words are looked for.
std::optional<Problem> no_column(const std::string& column, const std::string& where);

class RowCells {
public:
    // `where`: "file:line". `printed`: column -> text, empty cells left out.
    RowCells(std::map<std::string, std::string> printed, std::string where);

    // Stand-ins for what is not printed: first the row's own `assumed`, then the source's. Then the source's words
    // become the planner's.
    void take_assumed();
    void take_stand_ins(const TableSource& source);
    // Whether the recomputation is a stand-in although the source has recipes: none of them told it.
    [[nodiscard]] bool recompute_untold(const TableSource& source) const;

    [[nodiscard]] bool has(const std::string& column) const { return cells_.contains(column); }
    [[nodiscard]] std::string text(const std::string& column) const;
    // Whole numbers from 1; a printed 0, a negative number or text is noted as a problem and gives nothing.
    std::optional<int64_t> whole(const std::string& column);
    std::optional<double> positive(const std::string& column);
    std::optional<bool> flag(const std::string& column); // 0, 1, true, false

    void problem(const std::string& column, const std::string& message, const std::string& hint = {});
    // Takes over a problem that already says where it is.
    void problem(Problem problem) { problems_.push_back(std::move(problem)); }
    void missing(const std::string& column, const std::string& expected);
    void assume(const std::string& text) { assumed_.push_back(text); }

    [[nodiscard]] const std::string& where() const { return where_; }
    [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
    [[nodiscard]] const std::vector<std::string>& assumed() const { return assumed_; }

private:
    bool stand_in(const std::string& column, const std::string& value);
    [[nodiscard]] bool is_assumed(const std::string& column) const;
    void take_recipe(const TableSource::Recipe& recipe);

    std::map<std::string, std::string> cells_;
    std::string where_;
    std::vector<Problem> problems_;
    std::vector<std::string> assumed_;
    std::set<std::string> told_; // stand-ins that a recipe of the source gave
};

} // namespace fourfold
