// SPDX-License-Identifier: GPL-3.0-or-later
// The order of found layouts: by the objective, where one that may well not fit counts for what it is expected to bring
// (core/predict/rank.h); of the best, those that the model cannot tell apart are ties.
#pragma once

#include "core/search/search.h"

namespace fourfold {

class FoundRanking {
public:
    explicit FoundRanking(const SearchRequest& request);
    // Fills risk and weighed from objective and figures. Cheap where there is room.
    void weigh(FoundLayout& found) const;
    // Better weighed objective first; of equal ones the one with more room in memory, then in the order of candidates.
    [[nodiscard]] bool before(const FoundLayout& a, const FoundLayout& b) const;
    // How many of the best to hold until they are placed: those little known may go back behind others.
    [[nodiscard]] std::size_t held() const;
    // Puts the best, in this order, into their places: ties share one, and the one with less memory leads. Keeps as
    // many as were asked for.
    void place_ties(std::vector<FoundLayout>& best) const;

private:
    // What a layout brings, more is better, as it ranks.
    [[nodiscard]] double yield(const FoundLayout& found) const;
    [[nodiscard]] double deviation(const FoundLayout& found) const;

    const SearchRequest* request_;
    const Objective* objective_;
    bool weighs_ = false; // an expression of the person's own is taken as it is written
    double capacity_gib_ = 0, half_width_ = 0, tie_share_ = 0;
    double surely_fits_gib_ = 0; // memory below which no risk is worth working out
};

} // namespace fourfold
