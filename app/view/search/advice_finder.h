// SPDX-License-Identifier: GPL-3.0-or-later
// What would make a plan fit, and what would make it faster: looked for when the plan has been still for a moment, on
// another thread.
#pragma once

#include "app/view/background.h"
#include "core/report/table/table.h"
#include "core/search/advice.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

class AdviceFinder {
public:
    static constexpr std::chrono::milliseconds kStill{250}; // a key that is held down asks for nothing

    explicit AdviceFinder(std::function<void()> wake)
        : work_(std::move(wake))
    {
    }

    // The answer to the plan as it stands; null while it has none. What was found for another goes. Nothing new is
    // looked for unless somebody `looks`. Whether something changed.
    bool follow(const std::shared_ptr<const Prediction>& now, bool looks = true);
    // Begins to look when it is time, and takes what was found; whether something changed.
    bool tick();
    // Milliseconds after which tick() has something to begin; negative: nothing waits.
    [[nodiscard]] int next_tick() const;

    [[nodiscard]] bool is_looking() const { return due_ || work_.is_running(); }
    [[nodiscard]] const std::optional<AdviceReport>& report() const { return report_; }
    // What makes it fit, then what makes it faster.
    [[nodiscard]] const std::vector<Advice>& all() const { return all_; }
    [[nodiscard]] Table table() const; // of all()

private:
    std::shared_ptr<const Prediction> about_;
    std::optional<std::chrono::steady_clock::time_point> due_;
    std::optional<AdviceReport> report_;
    std::vector<Advice> all_;
    Background work_;
};

// "micro_batch 2 -> 1 (70.1 GiB, 3.2 % slower)" with an arrow.
std::string advice_words(const Advice& advice);
// all() of a report, with what each does in front.
Table advice_rows(const std::vector<Advice>& all, std::size_t to_fit);

} // namespace fourfold::view
