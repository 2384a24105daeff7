// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts that a search found, as a table: sorted and filtered over an index of its own, so that 100,000 rows stay
// under a tenth of a second.
#pragma once

#include "app/view/answer.h"
#include "core/expression/expression.h"
#include "core/report/table/table.h"
#include "core/search/fields.h"
#include "core/search/search.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fourfold::view {

// A found layout with the value of every field that expressions may name.
struct ResultRow {
    FoundLayout found;
    PlanValues values{};
    Evidence evidence = Evidence::extrapolated;
    double order = 0; // what the search ranks by, less is better
    bool warned = false; // the prediction of it has warnings (but for those that need its bubble)
};

struct ResultColumns {
    enum Column {
        pin,
        place, // among the best, by the objective and the risk of not fitting; ties share one
        gpus,
        tp,
        cp,
        pp,
        dp,
        ep,
        virtual_stages,
        micro_batch,
        schedule,
        sharding,
        recompute,
        memory,
        throughput,
        mfu,
        step_time,
        days, // of the whole training, with failures where they are known; likewise the next two
        cost,
        energy,
        against_plan,
        confidence,
        columns
    };
};

class Results : public ResultColumns {
public:
    // Of a heading: two lines where '\n' stands.
    static const char* title(int column);
    static const char* about(int column); // what it holds; "" where the heading says it
    static const char* key(int column); // in files

    void clear();
    void append(std::vector<ResultRow> rows);
    // What a search came to: the places of its best, and the layouts that no other beats in speed, memory and number of
    // GPUs at once.
    void set_outcome(const std::vector<FoundLayout>& best, const std::vector<FoundLayout>& pareto);
    void set_pareto_only(bool on);
    [[nodiscard]] bool pareto_only() const { return pareto_only_; }
    // Only rows for which it holds; empty = all. Of plan_field_set().
    void set_filter(std::optional<Expression> filter);
    // What `against_plan` compares with; empty = nothing.
    void set_plan_throughput(std::optional<double> tps_per_gpu) { plan_throughput_ = tps_per_gpu; }
    void sort(int column, bool falling = false);
    [[nodiscard]] int sort_column() const { return sort_column_; }
    [[nodiscard]] bool is_falling() const { return falling_; }

    // --- rows on show, in their order; an id stays with its row ---
    [[nodiscard]] const std::vector<ResultRow>& all() const { return rows_; } // by id
    [[nodiscard]] const std::vector<std::uint32_t>& visible() const { return visible_; } // ids
    [[nodiscard]] int row_of(std::size_t id) const; // -1 when it is not on show
    [[nodiscard]] bool is_pareto(std::size_t id) const { return pareto_.contains(rows_[id].found.candidate); }
    void toggle_pin(std::size_t id);
    [[nodiscard]] const std::set<std::size_t>& pinned() const { return pinned_; }

    [[nodiscard]] double value(std::size_t id, int column) const; // what the column sorts by; NaN: not known
    [[nodiscard]] std::string text(std::size_t id, int column) const;
    [[nodiscard]] Tone tone(std::size_t id, int column) const; // of the last two columns
    // How sure the row is, in a sentence.
    [[nodiscard]] std::string certainty(std::size_t id) const;
    [[nodiscard]] Table table(int most) const;

private:
    void arrange();

    std::vector<ResultRow> rows_; // in the order of arrival: an id is an index
    std::vector<std::uint32_t> visible_;
    std::set<Candidate> pareto_;
    std::map<Candidate, int> places_;
    std::set<std::size_t> pinned_;
    std::optional<Expression> filter_;
    std::optional<double> plan_throughput_;
    bool pareto_only_ = false;
    int sort_column_ = place;
    bool falling_ = false;
};

} // namespace fourfold::view
