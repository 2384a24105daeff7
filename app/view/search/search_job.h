// SPDX-License-Identifier: GPL-3.0-or-later
// One search at a time on threads of its own; its owner takes what it found from time to time.
#pragma once

#include "app/view/search/results.h"

#include <functional>
#include <memory>
#include <thread>

namespace fourfold::view {

// What a front end asks for.
struct SearchQuestion {
    std::vector<int> gpus; // to try
    std::string objective; // of objective_choices()
    std::optional<Expression> constraint; // what must hold, where given
    bool shows_refused = false; // also layouts at which the plan's software would stop
};
// Tokens, price, failures and power are the plan's (core/search/plan_budget.h). `plan` resolves to `resolved`.
Expected<SearchRequest> search_request(const Plan& plan, const ResolvedPlan& resolved, SearchQuestion question);

// Whether what the search finds answers the question that `plan` asks: all that its axes do not vary is the same, and
// the batch as near as the search may round it. Only then is the plan something that a layout is faster or slower than.
bool answers(const SearchRequest& request, const ResolvedPlan& plan);
// What found layouts are faster or slower than, in tokens/s per GPU: the plan that was searched from, as `answer`
// predicts it now. Nothing where it does not fit, or asks something else by now.
std::optional<double> throughput_to_beat(
    const SearchRequest& request, const ResolvedPlan& plan, const Prediction& answer);

class SearchJob {
public:
    SearchJob() = default;
    ~SearchJob(); // cancels
    SearchJob(const SearchJob&) = delete;
    SearchJob& operator=(const SearchJob&) = delete;

    // How layouts are found; null: by search(), as in every front end.
    using Find = std::function<SearchResult(const SearchRequest&, const SearchObserver&, std::stop_token)>;

    [[nodiscard]] bool is_running() const { return thread_.joinable(); }
    void start(SearchRequest request, const Find& find = {}); // precondition: !is_running()
    void cancel(); // what was found until then stays; the result follows
    [[nodiscard]] const SearchRequest& request() const { return *request_; } // of the last start()

    // What came since the last call.
    struct News {
        std::vector<ResultRow> rows;
        std::optional<double> share; // of the space, 0 to 1, where it moved
        SearchCounts counts; // with `share`
        std::optional<SearchResult> result; // the end: !is_running() from here on
    };
    News take();

    // More rows than this are not kept: a table of them would help nobody.
    static constexpr std::size_t kMostRows = 200'000;

private:
    struct Mailbox;
    std::shared_ptr<const SearchRequest> request_;
    std::shared_ptr<Mailbox> mailbox_;
    std::jthread thread_;
};

} // namespace fourfold::view
