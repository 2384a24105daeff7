// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/search.h"

#include "core/search/enumerate.h"
#include "core/search/evaluator.h"
#include "core/search/pareto.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

namespace fourfold {
namespace {

// A constraint with what one thread saw of it.
struct Watched {
    const Expression* expression = nullptr;
    bool layout_only = false;
    std::int64_t judged = 0, held = 0;
    double nearest_miss = std::numeric_limits<double>::infinity();

    bool holds(const PlanValues& values)
    {
        ++judged;
        const double miss = expression->miss(values);
        nearest_miss = std::min(nearest_miss, miss);
        held += miss == 0 ? 1 : 0;
        return miss == 0;
    }
};

// What one thread found; merged in any order.
class Gathered {
public:
    explicit Gathered(const SearchRequest& request)
        : request_(request)
    {
        for (const Expression& expression : request.constraints)
            constraints.push_back({&expression, needs_only_layout(expression)});
    }

    void keep(const FoundLayout& found)
    {
        pareto.add(found);
        keep_best(found);
    }
    void keep_best(const FoundLayout& found)
    {
        const auto limit = static_cast<std::size_t>(std::max(0, request_.top));
        if (best.size() >= limit && (limit == 0 || !ranks_before(found, best.back(), request_.objective)))
            return;
        const auto place = std::upper_bound(best.begin(), best.end(), found,
            [&](const FoundLayout& a, const FoundLayout& b) { return ranks_before(a, b, request_.objective); });
        best.insert(place, found);
        if (best.size() > limit)
            best.pop_back();
    }
    // False where a layout with this objective at best and these figures can be neither among the best nor on the
    // front.
    [[nodiscard]] bool may_matter(const FoundLayout& at_best) const
    {
        const Objective& objective = request_.objective;
        const auto limit = static_cast<std::size_t>(std::max(0, request_.top));
        const bool full = best.size() >= limit && limit > 0;
        const bool among_best = limit > 0 && (!full || !objective.better(best.back().objective, at_best.objective));
        return among_best
            || !pareto.covers(
                at_best.candidate.gpus(), at_best.figures.memory_device_gib, at_best.seconds_per_sequence);
    }
    void keep_smallest(const FoundLayout& unfit)
    {
        const auto key
            = [](const FoundLayout& found) { return std::pair(found.figures.memory_device_gib, found.candidate); };
        if (!smallest_unfit || key(unfit) < key(*smallest_unfit))
            smallest_unfit = unfit;
    }
    void reject(const std::string& code, const Candidate& candidate) { add({code, candidate, 1}); }
    void merge(const Gathered& other)
    {
        for (const FoundLayout& found : other.best)
            keep_best(found);
        pareto.merge(other.pareto);
        counts += other.counts;
        if (other.smallest_unfit)
            keep_smallest(*other.smallest_unfit);
        for (const Left& left : other.left)
            add(left);
        for (std::size_t i = 0; i < constraints.size(); ++i) {
            constraints[i].judged += other.constraints[i].judged;
            constraints[i].held += other.constraints[i].held;
            constraints[i].nearest_miss = std::min(constraints[i].nearest_miss, other.constraints[i].nearest_miss);
        }
    }

    std::vector<FoundLayout> best;
    ParetoFront pareto;
    SearchCounts counts;
    std::optional<FoundLayout> smallest_unfit;
    // Layouts left out, by reason; the first of them in the order of candidates, whichever thread met it.
    struct Left {
        std::string code;
        Candidate first;
        std::int64_t count = 0;
    };
    std::vector<Left> left; // few: rules, memory, constraints
    std::vector<Watched> constraints;

private:
    void add(const Left& more)
    {
        for (Left& known : left) {
            if (known.code == more.code) {
                known.first = std::min(known.first, more.first);
                known.count += more.count;
                return;
            }
        }
        left.push_back(more);
    }

    const SearchRequest& request_;
};

// One thread's work on mesh units.
class Worker {
public:
    explicit Worker(const SearchRequest& request)
        : gathered(request)
        , request_(request)
        , evaluator_(request.plan, request.space)
        , judges_layouts_(std::any_of(request.constraints.begin(), request.constraints.end(), needs_only_layout))
        , may_bound_(!request.every && request.objective.monotone
              && std::all_of(request.constraints.begin(), request.constraints.end(), needs_only_layout))
    {
    }
    // Leaves what it found in `fresh` and `gathered`.
    void search(const MeshUnit& unit, const std::stop_token& stop)
    {
        fresh.clear();
        for_each_candidate(request_.space, request_.plan, unit, [&](const Candidate& candidate) {
            if (!stop.stop_requested())
                judge(candidate);
        });
    }

    Gathered gathered;
    std::vector<FoundLayout> fresh; // found in the last unit

private:
    // Every constraint is judged, so that each one's outcome is known; the first that fails is counted.
    bool all_hold(bool layout_only, const Candidate& candidate)
    {
        bool hold = true;
        for (Watched& constraint : gathered.constraints) {
            if (constraint.layout_only != layout_only || constraint.holds(values_))
                continue;
            if (hold)
                gathered.reject(constraint.expression->text(), candidate);
            hold = false;
        }
        gathered.counts.constrained += hold ? 0 : 1;
        return hold;
    }
    void judge(const Candidate& candidate)
    {
        ++gathered.counts.enumerated;
        const ResolvedPlan& plan = evaluator_.set(candidate);
        filled_ = false;
        if (judges_layouts_) {
            fill(plan);
            if (!all_hold(true, candidate))
                return;
        }
        const auto worth = [&](const LayoutFigures& figures) {
            return !may_bound_ || gathered.may_matter(found_of(candidate, plan, figures));
        };
        // By reference: the function object of a million layouts must not be on the heap.
        const Evaluation& evaluation = evaluator_.evaluate(std::cref(worth));
        if (evaluation.outcome == LayoutOutcome::bounded) {
            ++gathered.counts.bounded;
            return;
        }
        if (evaluation.outcome == LayoutOutcome::broken_rule) {
            ++gathered.counts.broken_rules;
            gathered.reject(evaluation.code, candidate);
            return;
        }
        if (evaluation.outcome == LayoutOutcome::does_not_fit) {
            ++gathered.counts.does_not_fit;
            gathered.reject("memory", candidate);
            gathered.keep_smallest({candidate, evaluation.figures});
            return;
        }
        const FoundLayout found = found_of(candidate, plan, evaluation.figures);
        if (!all_hold(false, candidate))
            return;
        ++gathered.counts.evaluated;
        fresh.push_back(found);
        gathered.keep(found);
    }
    // Fills values_.
    FoundLayout found_of(const Candidate& candidate, const ResolvedPlan& plan, const LayoutFigures& figures)
    {
        fill(plan);
        fill_figures(values_, plan, figures, request_.budget);
        return {candidate, figures, figures.step_time_s / plan.training.global_batch,
            request_.objective.expression.value(values_)};
    }
    void fill(const ResolvedPlan& plan)
    {
        if (!filled_)
            fill_layout(values_, plan);
        filled_ = true;
    }

    const SearchRequest& request_;
    LayoutEvaluator evaluator_;
    bool judges_layouts_ = false; // some constraint needs no prediction
    bool may_bound_ = false; // what a bound leaves out changes no other figure of the result
    bool filled_ = false; // values_ hold the candidate's layout
    PlanValues values_{};
};

// What check() says of a layout that broke a rule.
std::string message_of(const std::string& code, const Candidate& candidate, const SearchRequest& request)
{
    for (const Reason& reason : check(plan_of({candidate}, request))) {
        if (reason.code == code)
            return reason.message;
    }
    return "";
}

int thread_count(const SearchRequest& request, std::size_t units)
{
    const int cores = std::max(1, int(std::thread::hardware_concurrency()));
    const int wanted = request.threads > 0 ? request.threads : cores;
    return int(std::clamp<std::size_t>(units, 1, std::size_t(wanted)));
}

} // namespace

SearchCounts& SearchCounts::operator+=(const SearchCounts& other)
{
    enumerated += other.enumerated;
    broken_rules += other.broken_rules;
    constrained += other.constrained;
    does_not_fit += other.does_not_fit;
    bounded += other.bounded;
    evaluated += other.evaluated;
    return *this;
}

bool ranks_before(const FoundLayout& a, const FoundLayout& b, const Objective& objective)
{
    if (objective.better(a.objective, b.objective))
        return true;
    if (objective.better(b.objective, a.objective))
        return false;
    if (a.figures.memory_device_gib != b.figures.memory_device_gib)
        return a.figures.memory_device_gib < b.figures.memory_device_gib;
    return a.candidate < b.candidate;
}

ResolvedPlan plan_of(const FoundLayout& found, const SearchRequest& request)
{
    ResolvedPlan plan = request.plan;
    place(found.candidate, request.space, request.plan, plan);
    return plan;
}

SearchResult search(const SearchRequest& request, const SearchObserver& observer,
    std::stop_token stop) // NOLINT(performance-unnecessary-value-param)
{
    const auto start = std::chrono::steady_clock::now();
    const std::vector<MeshUnit> units = mesh_units(request.space);
    const int threads = thread_count(request, units.size());
    std::atomic<std::size_t> next{0};
    std::mutex mutex; // guards what follows, and the calls of the observer
    std::size_t done = 0;
    std::vector<SearchCounts> told(static_cast<std::size_t>(threads));
    Gathered all(request);

    const auto work = [&](int thread) {
        Worker worker(request);
        for (std::size_t i = next++; i < units.size() && !stop.stop_requested(); i = next++) {
            worker.search(units[i], stop);
            const std::lock_guard lock(mutex);
            ++done;
            told[static_cast<std::size_t>(thread)] = worker.gathered.counts;
            if (observer.found && !worker.fresh.empty())
                observer.found(worker.fresh);
            if (!observer.progress)
                continue;
            SearchCounts counts;
            for (const SearchCounts& of_thread : told)
                counts += of_thread;
            observer.progress(double(done) / double(units.size()), counts);
        }
        const std::lock_guard lock(mutex);
        all.merge(worker.gathered);
    };
    {
        std::vector<std::jthread> others;
        for (int i = 1; i < threads; ++i)
            others.emplace_back(work, i);
        work(0);
    }

    SearchResult result;
    result.cancelled = stop.stop_requested();
    result.best = std::move(all.best);
    result.pareto = all.pareto.sorted();
    result.counts = all.counts;
    result.smallest_unfit = all.smallest_unfit;
    for (const Gathered::Left& left : all.left)
        result.rejections.push_back({left.code, message_of(left.code, left.first, request), left.count});
    std::stable_sort(result.rejections.begin(), result.rejections.end(), [](const Rejection& a, const Rejection& b) {
        return a.count != b.count ? a.count > b.count : a.code < b.code;
    });
    for (const Watched& constraint : all.constraints) {
        const bool never = constraint.held == 0 && std::isfinite(constraint.nearest_miss);
        result.constraints.push_back(
            {constraint.expression->text(), constraint.judged, constraint.held, never ? constraint.nearest_miss : 0});
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

} // namespace fourfold
