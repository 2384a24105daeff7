// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/search/search_job.h"

#include "core/calibration/user/evidence.h"
#include "core/predict/interval.h"
#include "core/predict/pipeline_advice.h"
#include "core/predict/shape_rules.h"
#include "core/search/plan_budget.h"

#include <cmath>
#include <mutex>

namespace fourfold::view {

struct SearchJob::Mailbox {
    std::mutex mutex;
    News news;
    std::size_t taken = 0; // rows, of all news
};

Expected<SearchRequest> search_request(const Plan& plan, const ResolvedPlan& resolved, SearchQuestion question)
{
    constexpr int kPlaced = 100; // of the best layouts have a place
    SearchRequest request;
    FOURFOLD_TRY(request.objective, parse_objective(question.objective, "objective"));
    request.plan = resolved;
    request.space = default_space(resolved, std::move(question.gpus));
    if (question.constraint)
        request.require(*question.constraint);
    request.top = kPlaced;
    request.budget = budget_of(plan, resolved);
    request.hides_refused = !question.shows_refused;
    use_own_runs(request);
    FOURFOLD_CHECK(check_known(request));
    return request;
}

bool answers(const SearchRequest& request, const ResolvedPlan& plan)
{
    const Training& asked = request.plan.training;
    if (std::abs(plan.training.global_batch - asked.global_batch) > request.space.batch_tolerance * asked.global_batch)
        return false;
    ResolvedPlan placed = plan;
    placed.gpus = request.plan.gpus;
    placed.layout = request.plan.layout;
    placed.padded_vocab = request.plan.padded_vocab;
    placed.training.micro_batch = asked.micro_batch;
    placed.training.micro_batches = asked.micro_batches;
    placed.training.global_batch = asked.global_batch;
    placed.training.schedule = asked.schedule;
    placed.training.sharding = asked.sharding;
    placed.training.recompute = asked.recompute;
    return layout_hash(placed) == layout_hash(request.plan);
}

std::optional<double> throughput_to_beat(
    const SearchRequest& request, const ResolvedPlan& plan, const Prediction& answer)
{
    return answer.feasible && answers(request, plan) ? answer.tps_per_gpu : std::nullopt;
}

SearchJob::~SearchJob()
{
    cancel();
}

void SearchJob::start(SearchRequest request, const Find& find)
{
    request_ = std::make_shared<const SearchRequest>(std::move(request));
    mailbox_ = std::make_shared<Mailbox>();
    thread_ = std::jthread([request = request_, mailbox = mailbox_, find](const std::stop_token& stop) {
        SearchObserver observer;
        ResolvedPlan plan = request->plan; // one for all rows: place() overwrites what differs
        JobEvidence evidence(request->plan);
        observer.found = [&](std::span<const FoundLayout> found) {
            std::vector<ResultRow> rows;
            rows.reserve(found.size());
            for (const FoundLayout& layout : found) {
                ResultRow row;
                row.found = layout;
                row.order = request->objective.maximize ? -layout.weighed : layout.weighed;
                place(layout.candidate, request->space, request->plan, plan);
                fill_layout(row.values, plan);
                fill_figures(row.values, plan, layout.figures, request->budget);
                row.evidence = evidence.of(plan, layout.figures.memory_device_gib);
                const double capacity = plan.cluster.gpu.memory_gib;
                const double share = capacity > 0 ? layout.figures.memory_device_gib / capacity : 0;
                row.warned = !regime_warnings(plan, share).empty() || !pipeline_advice(plan, 0).empty()
                    || !shape_warnings(plan).empty();
                rows.push_back(row);
            }
            const std::scoped_lock lock(mailbox->mutex);
            for (ResultRow& row : rows) {
                if (mailbox->taken >= kMostRows)
                    break;
                mailbox->news.rows.push_back(row);
                ++mailbox->taken;
            }
        };
        observer.progress = [&](double share, const SearchCounts& counts) {
            const std::scoped_lock lock(mailbox->mutex);
            mailbox->news.share = share;
            mailbox->news.counts = counts;
        };
        SearchResult result = find ? find(*request, observer, stop) : search(*request, observer, stop);
        const std::scoped_lock lock(mailbox->mutex);
        mailbox->news.result = std::move(result);
    });
}

void SearchJob::cancel()
{
    if (is_running())
        thread_.request_stop();
}

SearchJob::News SearchJob::take()
{
    News news;
    if (!mailbox_)
        return news;
    {
        const std::scoped_lock lock(mailbox_->mutex);
        news = std::exchange(mailbox_->news, {});
    }
    if (news.result)
        thread_.join();
    return news;
}

} // namespace fourfold::view
