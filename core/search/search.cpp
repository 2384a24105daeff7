// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/search.h"

#include "core/base/parallel.h"
#include "core/base/seconds.h"
#include "core/base/text.h"
#include "core/expression/conjuncts.h"
#include "core/search/enumerate.h"
#include "core/search/evaluator.h"
#include "core/search/gathered.h"
#include "core/search/refused.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>

namespace fourfold {
namespace {

// One thread's work: layouts of mesh units, then the timing of those of which only a bound is known.
class Worker {
public:
    explicit Worker(const SearchRequest& request)
        : gathered(request)
        , request_(request)
        , evaluator_(request.plan, request.space)
        , figures_(request.plan, request.budget)
        , refusals_(request.plan)
        , judges_layouts_(std::any_of(request.constraints.begin(), request.constraints.end(), needs_only_layout))
        , reads_layouts_(judges_layouts_ || reads_layout(request.objective.expression)
              || std::any_of(request.constraints.begin(), request.constraints.end(), reads_layout))
    {
        const bool judges_figures
            = !std::all_of(request.constraints.begin(), request.constraints.end(), needs_only_layout);
        may_bound_ = !request.every && request.objective.monotone && !judges_figures;
        estimates_ = may_bound_ || (!request.every && judges_figures);
        if (request.stretch)
            stretch_ = request.stretch();
    }
    void search(const MeshUnit& unit, const std::stop_token& stop)
    {
        for_each_candidate(request_.space, request_.plan, unit, [&](const Candidate& candidate) {
            if (!stop.stop_requested())
                judge(candidate);
        });
        if (pending.size() > kMostPending)
            time_pending(stop);
    }
    // Times `at_best`, of which a bound is known, if it could matter.
    void time(const FoundLayout& at_best)
    {
        ++gathered.counts.enumerated;
        if (!gathered.may_matter(at_best)) {
            ++gathered.counts.bounded;
            return;
        }
        const ResolvedPlan& plan = evaluator_.set(at_best.candidate);
        filled_ = false;
        take(at_best.candidate, plan, evaluator_.evaluate().figures);
    }
    // Those that promise most first: they rule out most of the others.
    static void sort(std::vector<FoundLayout>& pending, const FoundRanking& ranking)
    {
        std::sort(pending.begin(), pending.end(),
            [&](const FoundLayout& a, const FoundLayout& b) { return ranking.before(a, b); });
    }

    Gathered gathered;
    std::vector<FoundLayout> fresh; // found, and not yet told
    std::vector<FoundLayout> pending; // layouts that may matter; step time and objective are those of the bound

private:
    static constexpr std::size_t kMostPending = 20'000; // 1.3 MB

    void time_pending(const std::stop_token& stop)
    {
        sort(pending, gathered.ranking());
        std::size_t timed = 0;
        for (; timed < pending.size() && !stop.stop_requested(); ++timed)
            time(pending[timed]);
        pending.erase(pending.begin(), pending.begin() + std::ptrdiff_t(timed));
    }
    // Every constraint is judged, so that each one's outcome is known; the first that fails is counted.
    bool all_hold(bool layout_only, const Candidate& candidate)
    {
        bool hold = true;
        for (WatchedConstraint& constraint : gathered.constraints) {
            if (constraint.layout_only != layout_only || constraint.holds(values_, candidate))
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
        const Evaluation& evaluation = estimates_ ? evaluator_.estimate() : evaluator_.evaluate();
        const bool fits
            = evaluation.outcome == LayoutOutcome::bounded || evaluation.outcome == LayoutOutcome::evaluated;
        if (fits && request_.hides_refused && refusals_.refuses(plan)) {
            ++gathered.counts.refused;
            gathered.reject(kStackStops, candidate);
            return;
        }
        switch (evaluation.outcome) {
        case LayoutOutcome::broken_rule:
            ++gathered.counts.broken_rules;
            gathered.reject(evaluation.code, candidate);
            break;
        case LayoutOutcome::does_not_fit:
            ++gathered.counts.does_not_fit;
            gathered.reject("memory", candidate);
            gathered.keep_smallest({candidate, evaluation.figures});
            break;
        case LayoutOutcome::bounded: {
            if (!may_bound_) {
                if (!is_ruled_out(candidate, plan, evaluation.figures))
                    take(candidate, plan, evaluator_.evaluate().figures);
                break;
            }
            const FoundLayout at_best = found_of(candidate, plan, evaluation.figures);
            if (gathered.may_matter(at_best)) {
                --gathered.counts.enumerated; // time() counts it, whatever comes of it
                pending.push_back(at_best);
            } else {
                ++gathered.counts.bounded;
            }
            break;
        }
        case LayoutOutcome::evaluated:
            take(candidate, plan, evaluation.figures);
            break;
        }
    }
    void take(const Candidate& candidate, const ResolvedPlan& plan, const LayoutFigures& figures)
    {
        const FoundLayout found = found_of(candidate, plan, figures);
        if (!all_hold(false, candidate))
            return;
        ++gathered.counts.evaluated;
        fresh.push_back(found);
        gathered.keep(found);
    }
    // Does a constraint leave the layout out, however much longer than `at_best` its steps are? Says so, and counts it,
    // only where no constraint has to be looked at more closely for it.
    bool is_ruled_out(const Candidate& candidate, const ResolvedPlan& plan, const LayoutFigures& at_best)
    {
        found_of(candidate, plan, at_best);
        fill_ranges(ranges_, values_);
        const WatchedConstraint* first = nullptr;
        for (const WatchedConstraint& constraint : gathered.constraints) {
            if (constraint.layout_only)
                continue;
            const Expression::Outlook outlook = constraint.expression->outlook(ranges_);
            if (outlook.must_hold)
                continue;
            if (outlook.may_hold || constraint.may_be_nearest(outlook.least_miss, candidate))
                return false;
            if (first == nullptr)
                first = &constraint;
        }
        if (first == nullptr)
            return false;
        for (WatchedConstraint& constraint : gathered.constraints) {
            if (!constraint.layout_only)
                constraint.count(constraint.expression->outlook(ranges_).must_hold);
        }
        gathered.reject(first->expression->text(), candidate);
        ++gathered.counts.constrained;
        return true;
    }
    // Fills values_.
    FoundLayout found_of(const Candidate& candidate, const ResolvedPlan& plan, LayoutFigures figures)
    {
        if (reads_layouts_)
            fill(plan);
        const double stretch = stretch_ ? stretch_(plan, figures.step_time_s) : 1;
        figures.step_time_s *= stretch;
        figures_.fill(values_, plan, figures);
        FoundLayout found{candidate, figures, stretch, figures.step_time_s / plan.training.global_batch,
            request_.objective.expression.value(values_)};
        gathered.ranking().weigh(found);
        return found;
    }
    void fill(const ResolvedPlan& plan)
    {
        if (!filled_)
            fill_layout(values_, plan);
        filled_ = true;
    }

    const SearchRequest& request_;
    LayoutEvaluator evaluator_;
    FigureFields figures_;
    StackRefusals refusals_;
    StepStretch stretch_;
    bool judges_layouts_ = false; // some constraint needs no prediction
    bool reads_layouts_ = false; // some expression reads more than figures
    bool may_bound_ = false; // what a bound leaves out changes no other figure of the result
    bool estimates_ = false; // a bound may spare a layout from being timed
    bool filled_ = false; // values_ hold the candidate's layout
    PlanValues values_{};
    PlanRanges ranges_{};
};

} // namespace

void SearchRequest::require(const Expression& condition)
{
    const std::vector<Expression> parts = conjuncts(condition, plan_field_set());
    constraints.insert(constraints.end(), parts.begin(), parts.end());
}

Expected<void> check_known(const SearchRequest& request, const std::string& option)
{
    const TrainingBudget& budget = request.budget;
    const auto check = [&](const Expression& expression, const std::string& where) -> Expected<void> {
        const auto needs = [&](PlanField field, bool known, const std::string& needed) -> Expected<void> {
            const auto& reads = expression.reads();
            if (known || !std::binary_search(reads.begin(), reads.end(), slot(field)))
                return {};
            return Problem{ProblemCode::bad_input,
                in_quotes(plan_field_set().fields()[slot(field)].name) + " is not known without " + needed,
                "add it, or leave the figure out", where};
        };
        const bool cost = !std::isnan(budget.price_per_gpu_hour);
        const bool failures = budget.knows_failures() && !std::isnan(budget.storage_gb_s);
        // A command line has options, a window and a terminal have the plan's fields.
        const bool options = !option.empty();
        for (const PlanField field : {PlanField::cost, PlanField::expected_cost})
            FOURFOLD_CHECK(needs(field, cost,
                options ? "the price of a GPU hour (--price)" : "the price of a GPU hour (budget.price_per_gpu_hour)"));
        for (const PlanField field : {PlanField::goodput, PlanField::expected_days, PlanField::expected_cost})
            FOURFOLD_CHECK(needs(field, failures,
                options ? "a failure rate (--failure-rate or --mtbf) and the speed of the storage (--storage)"
                        : "a failure rate (budget.gpu_mtbf_hours or budget.node_mtbf_hours) and the speed of the "
                          "storage (budget.storage_gb_s)"));
        return needs(PlanField::energy_mwh, !std::isnan(budget.power_w(request.plan.cluster.gpu)),
            "the power_w of the cluster's GPU");
    };
    FOURFOLD_CHECK(check(request.objective.expression, option + "objective"));
    for (const Expression& constraint : request.constraints)
        FOURFOLD_CHECK(check(constraint, option + "constraint"));
    return {};
}

SearchCounts& SearchCounts::operator+=(const SearchCounts& other)
{
    enumerated += other.enumerated;
    broken_rules += other.broken_rules;
    refused += other.refused;
    constrained += other.constrained;
    does_not_fit += other.does_not_fit;
    bounded += other.bounded;
    evaluated += other.evaluated;
    return *this;
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
    MeshParts parts(request.space);
    std::vector<MeshUnit> units;
    bool more = parts.next(units);
    const std::size_t threads = thread_count(request.threads, units.size());
    std::mutex mutex; // guards the calls of the observer, and what it is told
    std::vector<SearchCounts> told(threads);
    std::size_t done = 0; // of the part
    const auto tell_found = [&](Worker& worker) {
        if (observer.found && !worker.fresh.empty())
            observer.found(worker.fresh);
        worker.fresh.clear();
    };

    std::vector<Worker> workers;
    workers.reserve(threads);
    for (std::size_t thread = 0; thread < threads; ++thread)
        workers.emplace_back(request);
    for (; more && !stop.stop_requested(); more = parts.next(units), done = 0) {
        parallel_for(units.size(), threads, stop, [&](std::size_t thread, std::size_t unit) {
            Worker& worker = workers[thread];
            worker.search(units[unit], stop);
            const std::lock_guard lock(mutex);
            tell_found(worker);
            ++done;
            told[thread] = worker.gathered.counts;
            // The last part of the progress is that of the timing below.
            if (observer.progress && (done < units.size() || !parts.is_last()))
                observer.progress(parts.done(double(done) / double(units.size())),
                    std::accumulate(told.begin(), told.end(), SearchCounts{}));
        });
    }

    Gathered all(request);
    std::vector<FoundLayout> pending;
    for (Worker& worker : workers) {
        all.merge(worker.gathered);
        pending.insert(pending.end(), worker.pending.begin(), worker.pending.end());
    }
    Worker::sort(pending, all.ranking());
    for (Worker& worker : workers)
        worker.gathered.start_from(all);
    parallel_for(pending.size(), threads, stop, [&](std::size_t thread, std::size_t i) {
        Worker& worker = workers[thread];
        worker.time(pending[i]);
        if (worker.fresh.empty())
            return;
        const std::lock_guard lock(mutex);
        tell_found(worker);
    });
    for (const Worker& worker : workers)
        all.merge(worker.gathered);
    if (observer.progress && !stop.stop_requested())
        observer.progress(1, all.counts);

    SearchResult result = all.result();
    result.cancelled = stop.stop_requested();
    result.seconds = seconds_since(start);
    return result;
}

} // namespace fourfold
