// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/refit.h"

#include "core/base/text.h"
#include "core/plan/trainable.h"
#include "core/search/edits.h"
#include "core/search/search.h"

#include <algorithm>
#include <optional>

namespace fourfold {
namespace {

// Numbers of GPUs that are searched together. Fewer GPUs are hardly ever faster, and of so many consecutive numbers of
// nodes some divide what a model can be cut into.
constexpr std::size_t kTogether = 16;

template <typename T>
void try_also(std::vector<T>& axis, const T& value)
{
    const auto at = std::lower_bound(axis.begin(), axis.end(), value);
    if (at == axis.end() || *at != value)
        axis.insert(at, value);
}

// The usual axes, and what the plan itself has.
SearchSpace space_of(const ResolvedPlan& plan, std::vector<int> gpus)
{
    SearchSpace space = default_space(plan, std::move(gpus));
    try_also(space.micro_batch, plan.training.micro_batch);
    try_also(space.virtual_stages, plan.layout.virtual_stages);
    try_also(space.sharding, plan.training.sharding);
    try_also(space.recompute, plan.training.recompute);
    if (plan.training.schedule != Schedule::csv) // which is of one number of stages
        try_also(space.schedule, plan.training.schedule);
    return space;
}

// One search after the other over ever fewer GPUs, and what they say of layouts that cannot be taken.
class Refit {
public:
    Refit(const RefitRequest& request, std::stop_token stop)
        : request_(request)
        , stop_(std::move(stop))
        , places_(request.places)
    {
        std::sort(places_.begin(), places_.end(), [](const auto& a, const auto& b) { return a.gpus > b.gpus; });
    }

    Expected<ResolvedPlan> run()
    {
        for (std::size_t first = 0; first < places_.size(); first += kTogether) {
            std::vector<int> gpus;
            for (std::size_t i = first; i < std::min(places_.size(), first + kTogether); ++i)
                gpus.push_back(places_[i].gpus);
            FOURFOLD_TRY(auto found, best_on(gpus));
            if (found)
                return *std::move(found);
        }
        return none();
    }

private:
    struct Shortage {
        std::string layout;
        double needed_gib = 0, there_gib = 0;
        bool of_host = false;
        [[nodiscard]] double missing_gib() const { return needed_gib - there_gib; }
    };

    // The first of the best that the trainer runs. They are few where the search does not know what the trainer cannot
    // do: then more of them are looked at.
    Expected<std::optional<ResolvedPlan>> best_on(const std::vector<int>& gpus)
    {
        constexpr int kFirst = 64, kMost = 1 << 15, kMore = 8;
        SearchRequest search_request;
        search_request.plan = request_.plan;
        search_request.space = space_of(request_.plan, gpus);
        search_request.threads = request_.threads;
        search_request.expected = true;
        FOURFOLD_TRY(search_request.objective, parse_objective("step_time", "refit"));
        for (search_request.top = kFirst;; search_request.top *= kMore) {
            const SearchResult result = search(search_request, {}, stop_);
            if (result.cancelled)
                return Problem{ProblemCode::cancelled, "stopped while a layout was looked for", {}, {}};
            if (auto plan = first_that_runs(search_request, result))
                return std::optional(*std::move(plan));
            if (int(result.best.size()) < search_request.top || search_request.top >= kMost) {
                remember(search_request, result);
                return std::optional<ResolvedPlan>();
            }
        }
    }

    // Of those that the model cannot tell apart, the one that changes least.
    std::optional<ResolvedPlan> first_that_runs(const SearchRequest& search_request, const SearchResult& result)
    {
        std::optional<ResolvedPlan> chosen;
        std::size_t changes = 0;
        int place = 0;
        for (const FoundLayout& found : result.best) {
            if (chosen && found.place != place)
                break;
            ResolvedPlan plan = plan_of(found, search_request);
            plan.training.schedule_csv.clear();
            if (!runs(plan, found))
                continue;
            const std::size_t changed = changed_fields(request_.plan, plan).size();
            if (chosen && changed >= changes)
                continue;
            chosen = std::move(plan);
            changes = changed;
            place = found.place;
        }
        return chosen;
    }

    bool runs(const ResolvedPlan& plan, const FoundLayout& found)
    {
        const auto place = std::find_if(
            places_.begin(), places_.end(), [&](const RefitPlace& each) { return each.gpus == plan.gpus; });
        if (place != places_.end() && place->memory_gib > 0 && found.figures.memory_gib > place->memory_gib) {
            remember({layout_words(plan), found.figures.memory_gib, place->memory_gib, true});
            return false;
        }
        std::vector<Reason> reasons = check(plan);
        if (reasons.empty())
            reasons = trainer_limits(plan);
        if (!reasons.empty() && rule_.empty())
            rule_ = reasons.front().field + ": " + reasons.front().message;
        return reasons.empty();
    }

    void remember(const Shortage& shortage)
    {
        if (!shortage_ || shortage.missing_gib() < shortage_->missing_gib())
            shortage_ = shortage;
    }

    void remember(const SearchRequest& search_request, const SearchResult& result)
    {
        if (const auto& unfit = result.smallest_unfit)
            remember({layout_words(plan_of(*unfit, search_request)), unfit->figures.memory_device_gib,
                request_.plan.cluster.gpu.memory_gib, false});
        for (const Rejection& rejection : result.rejections) {
            if (rule_.empty())
                rule_ = rejection.example;
        }
    }

    [[nodiscard]] Problem none() const
    {
        Problem problem{ProblemCode::failed, "there are no GPUs to go on with", {}, request_.plan.where};
        if (places_.empty())
            return problem;
        const int most = places_.front().gpus;
        const std::string where = text_of(most == 1 ? "%d GPU"
                : places_.size() > 1                ? "%d GPUs or fewer"
                                                    : "%d GPUs",
            most);
        if (shortage_) {
            problem.message = "no layout of the plan fits on " + where
                + text_of(
                    ": %s comes nearest and needs %.2f GiB per rank, but the %s has %.2f GiB: %.2f GiB are missing",
                    shortage_->layout.c_str(), shortage_->needed_gib, shortage_->of_host ? "host" : "GPU",
                    shortage_->there_gib, shortage_->missing_gib());
        } else {
            problem.message = "the plan has no layout on " + where + " with its global batch of "
                + std::to_string(request_.plan.training.global_batch) + (rule_.empty() ? "" : ": " + rule_);
        }
        return problem;
    }

    const RefitRequest& request_;
    std::stop_token stop_;
    std::vector<RefitPlace> places_; // most GPUs first
    std::optional<Shortage> shortage_; // the smallest
    std::string rule_; // the first that stood in the way
};

} // namespace

Expected<ResolvedPlan> refit(const RefitRequest& request, std::stop_token stop)
{
    return Refit(request, std::move(stop)).run();
}

std::string layout_words(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    std::string text = text_of("tp%d cp%d pp%d dp%d ", layout.tp, layout.cp, layout.pp, layout.dp);
    if (layout.ep > 1)
        text += text_of("ep%d ", layout.ep);
    if (layout.virtual_stages > 1)
        text += text_of("vs%d ", layout.virtual_stages);
    return text + text_of("mb%d", plan.training.micro_batch);
}

} // namespace fourfold
