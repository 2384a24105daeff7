// SPDX-License-Identifier: GPL-3.0-or-later
// The stored runs as a list: predicted beside measured, sorted and filtered over an index of its own.
#pragma once

#include "core/expression/expression.h"
#include "core/report/table/table.h"
#include "core/report/views/run_filter.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

struct RunColumns {
    enum Column {
        name,
        model,
        state,
        target,
        layout,
        gpus,
        steps,
        predicted_tps,
        measured_tps,
        tps_error,
        most_off, // the part of a traced step that is furthest from its prediction
        predicted_memory,
        measured_memory,
        loss,
        tags,
        created,
        columns
    };
};

class RunsList : public RunColumns {
public:
    // Of a heading: two lines where '\n' stands.
    static const char* title(int column);
    static const char* about(int column); // what it holds; "" where the heading says it
    static bool is_number(int column); // stands at the right

    // Newest first, as the store lists them. Keeps the order and words of the filter; an expression goes with the
    // fields that it was made of.
    void show(std::vector<RunSummary> runs);
    // Only runs that hold every word, without regard to case: in a column, or in what the command line knows of them.
    void set_words(const std::string& words);
    void set_expression(const Expression& expression); // of fields()
    // The one or the other (is_run_expression()). On a Problem nothing changes.
    Expected<void> set_filter(const std::string& text);
    [[nodiscard]] const FieldSet& fields() const { return fields_.set(); }
    void sort(int column, bool falling);
    [[nodiscard]] int sort_column() const { return sort_column_; }
    [[nodiscard]] bool is_falling() const { return falling_; }

    [[nodiscard]] const std::vector<RunSummary>& all() const { return runs_; }
    [[nodiscard]] const std::vector<std::size_t>& visible() const { return visible_; } // places in all(), in order
    [[nodiscard]] const RunSummary& run(std::size_t row) const { return runs_[visible_[row]]; }
    // What a column says of a run, and the number that it sorts by; unknown is neither.
    [[nodiscard]] static std::string text(const RunSummary& run, int column);
    [[nodiscard]] static std::optional<double> number(const RunSummary& run, int column);
    // More about a cell, in lines; may be empty.
    [[nodiscard]] static std::string tip(const RunSummary& run, int column);
    [[nodiscard]] Table table() const; // of those on show

private:
    void arrange();

    std::vector<RunSummary> runs_;
    std::vector<std::string> haystacks_; // of each run, what words are looked for in
    RunFields fields_{{}};
    std::vector<std::size_t> visible_;
    std::vector<std::string> words_;
    std::optional<Expression> expression_; // empty: words
    int sort_column_ = created;
    bool falling_ = true;
};

// "paper, slow" and back; empty words are left out.
std::string tag_text(const std::vector<std::string>& tags);
std::vector<std::string> tags_of(const std::string& text);

} // namespace fourfold::view
