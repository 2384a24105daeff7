// SPDX-License-Identifier: GPL-3.0-or-later
// What a part of a search has found and left out; parts are merged in any order.
#pragma once

#include "core/search/pareto.h"
#include "core/search/ranking.h"

#include <string_view>

namespace fourfold {

// A constraint with what was seen of it.
struct WatchedConstraint {
    const Expression* expression = nullptr;
    bool layout_only = false; // needs no prediction
    std::int64_t judged = 0, held = 0;
    double nearest_miss = 0; // infinite where none was judged
    Candidate nearest{}; // where it was; of several the first in the order of candidates

    explicit WatchedConstraint(const Expression& expression);
    bool holds(const PlanValues& values, const Candidate& candidate);
    // The same where no more is known than that it holds, or misses by `least_miss` at least: only what cannot be the
    // nearest, see may_be_nearest().
    void count(bool holding);
    [[nodiscard]] bool may_be_nearest(double least_miss, const Candidate& candidate) const;
    void merge(const WatchedConstraint& other);

private:
    void keep_nearest(double miss, const Candidate& candidate);
};

class Gathered {
public:
    explicit Gathered(const SearchRequest& request);

    void keep(const FoundLayout& found); // among the best and on the front, where it belongs
    // False where a layout with this objective at best and these figures can be neither among the best nor on the
    // front.
    [[nodiscard]] bool may_matter(const FoundLayout& at_best) const;
    void keep_smallest(const FoundLayout& unfit);
    // A layout was left out; `reason`: a rule's code, "memory", or a constraint's text.
    void reject(std::string_view reason, const Candidate& candidate) { add(reason, candidate, 1); }
    void merge(const Gathered& other);
    // Knows the best and the front of `other`, and has counted nothing.
    void start_from(const Gathered& other);
    // Everything but the seconds.
    [[nodiscard]] SearchResult result() const;
    [[nodiscard]] const FoundRanking& ranking() const { return ranking_; }

    SearchCounts counts;
    std::vector<WatchedConstraint> constraints;

private:
    // Layouts left out for one reason, and the first of them in the order of candidates, whichever thread met it.
    struct Left {
        std::string reason;
        Candidate first;
        std::int64_t count = 0;
        const char* met_at = nullptr; // where the reason was the last time: most often it is there again
    };
    void keep_best(const FoundLayout& found);
    void add(std::string_view reason, const Candidate& first, std::int64_t count);

    const SearchRequest* request_;
    FoundRanking ranking_;
    std::vector<FoundLayout> best_; // best first
    ParetoFront pareto_;
    std::optional<FoundLayout> smallest_unfit_;
    std::vector<Left> left_; // few: rules, memory, constraints
};

} // namespace fourfold
