// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/start/recommend.h"

#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/plan_edit.h"
#include "core/report/table/table.h"
#include "core/report/views/obstacle.h"
#include "core/search/edits.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fourfold {

namespace {

constexpr int kLooked = 100; // of the best layouts, for the runners-up

std::string percent(double share)
{
    return shown_number(100 * share, 1) + " %";
}

// The global batch that is usual for the model; at least one sequence for every eight GPUs, which is as far as a model
// is split without need.
int usual_batch(const ResolvedPlan& plan)
{
    const double usual = usual_tokens_per_step(plan.model) / plan.training.seq_len;
    const auto least = std::bit_ceil(static_cast<unsigned>(std::max(1, plan.gpus / 8)));
    return static_cast<int>(std::max<double>(least, std::round(usual)));
}

Expected<Plan> untitled(const StartAnswers& answers, const std::string& stack)
{
    Json document = {{"fourfold_plan", 1}, {"model", answers.model}, {"cluster", answers.cluster},
        {"gpus", answers.gpus}, {"stack", stack}};
    return plan_from_json(std::move(document), "");
}

SearchRequest request_of(const ResolvedPlan& plan)
{
    SearchRequest request;
    request.plan = plan;
    request.space = default_space(plan, {plan.gpus});
    request.space.batch_tolerance = 0.05; // nobody named this batch
    request.objective = *parse_objective("tps_per_gpu", "objective");
    request.expected = true;
    request.budget.tokens = chinchilla_tokens(plan.model);
    request.hides_refused = true;
    request.top = kLooked;
    return request;
}

// The least power of two times the plan's GPUs on which the model fits; 0 where none of the tried does.
int enough_gpus(ResolvedPlan plan, const SearchObserver& observer, const std::stop_token& stop)
{
    constexpr int kMost = 1 << 15;
    while (plan.gpus <= kMost / 2 && !stop.stop_requested()) {
        plan.gpus *= 2;
        plan.training.global_batch = usual_batch(plan);
        SearchRequest request = request_of(plan);
        request.top = 1;
        if (!search(request, observer, stop).best.empty())
            return plan.gpus;
    }
    return 0;
}

Problem nothing_fits(const SearchRequest& request, const SearchResult& result, const SearchObserver& observer,
    const std::stop_token& stop)
{
    if (result.cancelled)
        return {ProblemCode::cancelled, "the search was stopped", "", ""};
    Problem problem = obstacle(request, result);
    problem.code = ProblemCode::unsupported;
    if (result.counts.does_not_fit > 0) {
        const int enough = enough_gpus(request.plan, {{}, observer.progress}, stop);
        if (enough > 0)
            problem.hint += std::string(problem.hint.empty() ? "" : "; ") + "it fits on " + std::to_string(enough)
                + " GPUs of this cluster";
    }
    return problem;
}

// One sentence for each degree above one, recomputation and what the search went through.
std::vector<std::string> reasons_of(const Prediction& prediction, const SearchCounts& counts)
{
    const ResolvedPlan& plan = prediction.plan;
    const Layout& layout = plan.layout;
    const double step = prediction.step_time_s.value_or(0);
    const auto share = [&](Part part) { return percent(step > 0 ? prediction.time_by_part[part] / step : 0); };
    std::vector<std::string> reasons;
    reasons.push_back("Of " + shown_number(double(counts.enumerated), 0)
        + " layouts it is the one that is expected to train " + "fastest on these GPUs.");
    reasons.push_back("It needs " + shown_number(prediction.memory_device_gib.value_or(0), 1) + " of "
        + shown_number(prediction.memory_capacity_gib, 1) + " GiB on the fullest GPU.");
    const bool inside = layout.stride(Dimension::tp) * layout.tp <= plan.cluster.gpus_per_node;
    if (layout.tp > 1)
        reasons.push_back("TP " + std::to_string(layout.tp)
            + (inside ? " stays inside a node; its collectives cost " : " crosses nodes; its collectives cost ")
            + share(Part::tp) + " of the step.");
    if (layout.cp > 1)
        reasons.push_back("CP " + std::to_string(layout.cp) + " splits sequences of "
            + std::to_string(plan.training.seq_len) + " tokens, for " + share(Part::cp) + " of the step.");
    if (layout.pp > 1)
        reasons.push_back("PP " + std::to_string(layout.pp) + " deals " + std::to_string(plan.model.layers)
            + " layers to " + std::to_string(layout.pp) + " stages; the pipeline idles "
            + percent(prediction.bubble_fraction) + " of its time.");
    if (layout.dp > 1)
        reasons.push_back("DP " + std::to_string(layout.dp) + " shares the batch, sharding "
            + to_text(plan.training.sharding) + "; what it exchanges costs " + share(Part::dp) + " of the step.");
    if (layout.ep > 1)
        reasons.push_back("EP " + std::to_string(layout.ep) + " spreads the experts; the all-to-all costs "
            + share(Part::ep) + " of the step.");
    if (plan.training.recompute != Recompute::none)
        reasons.push_back("Recomputation (" + to_text(plan.training.recompute) + ") makes room for it, for "
            + share(Part::recompute) + " of the step.");
    return reasons;
}

bool same_mesh(const Layout& a, const Layout& b)
{
    return a.tp == b.tp && a.cp == b.cp && a.pp == b.pp && a.dp == b.dp && a.ep == b.ep;
}

// The two next layouts of other degrees, and of those at most a tenth slower the one that needs least memory.
std::vector<const FoundLayout*> runners_up(const SearchResult& result, const SearchRequest& request)
{
    constexpr std::size_t kOthers = 2;
    constexpr double kSlower = 1.1, kLess = 0.95;
    const FoundLayout& best = result.best.front();
    std::vector<const FoundLayout*> chosen;
    std::vector<Layout> meshes{plan_of(best, request).layout};
    for (const FoundLayout& found : result.best) {
        const Layout layout = plan_of(found, request).layout;
        const bool seen
            = std::any_of(meshes.begin(), meshes.end(), [&](const Layout& mesh) { return same_mesh(mesh, layout); });
        if (seen || chosen.size() == kOthers)
            continue;
        meshes.push_back(layout);
        chosen.push_back(&found);
    }
    const FoundLayout* smallest = &best;
    for (const FoundLayout& found : result.pareto) {
        if (found.seconds_per_sequence <= kSlower * best.seconds_per_sequence
            && found.figures.memory_device_gib < smallest->figures.memory_device_gib)
            smallest = &found;
    }
    const bool known = std::any_of(chosen.begin(), chosen.end(),
        [&](const FoundLayout* found) { return found->candidate == smallest->candidate; });
    if (!known && smallest->figures.memory_device_gib < kLess * best.figures.memory_device_gib)
        chosen.push_back(smallest);
    return chosen;
}

std::vector<std::string> assumptions(
    const StartAnswers& answers, const ResolvedPlan& plan, const Economics& economics, bool chose_stack)
{
    std::vector<std::string> assumed;
    if (chose_stack)
        assumed.push_back("Software stack " + plan.stack.id
            + (plan.stack.calibrated_for(plan.cluster.gpu.id) ? ", of which most was measured on this GPU."
                                                              : ", as nothing was measured on this GPU."));
    assumed.push_back("A global batch of " + std::to_string(plan.training.global_batch) + " sequences of "
        + std::to_string(plan.training.seq_len) + " tokens (" + shown_number(plan.tokens_per_step() / 1e6, 1)
        + " M tokens), as published runs of this size take.");
    if (answers.extent.tokens == 0 && answers.extent.days == 0)
        assumed.push_back(
            extent_text({economics.tokens, 0}) + ", 20 per parameter (Hoffmann et al. 2022, arXiv:2203.15556).");
    return assumed;
}

} // namespace

double usual_tokens_per_step(const ModelShape& model)
{
    struct Row {
        double below, tokens;
    };
    constexpr double kMi = 1 << 20;
    constexpr Row kRows[]{{1e9, kMi / 2}, {5e9, kMi}, {2e11, 4 * kMi}};
    for (const Row& row : kRows) {
        if (model.active_matmul_parameters() < row.below)
            return row.tokens;
    }
    return 16 * kMi;
}

std::string usual_stack(const ModelShape& model, const Cluster& cluster, const Presets& presets)
{
    if (cluster.gpu.is_cpu())
        return "fourfold";
    std::string best = "generic";
    int most = 0;
    for (const std::string& id : presets.ids("stacks")) {
        const auto stack = presets.stack(id);
        if (!stack || !stack->calibrated_for(cluster.gpu.id))
            continue;
        const auto domain = stack->measured.find(cluster.gpu.id);
        if (domain == stack->measured.end())
            continue;
        constexpr double kFar = 4; // times as large as anything measured
        const bool covers = !domain->second.parameters_b.is_far(model.parameters() / 1e9, kFar)
            && (!model.experts || domain->second.regimes.contains(Regime::experts));
        if (covers && domain->second.runs > most) {
            most = domain->second.runs;
            best = id;
        }
    }
    return best;
}

Expected<Recommendation> recommend(
    const StartAnswers& answers, const Presets& presets, const SearchObserver& observer, std::stop_token stop)
{
    FOURFOLD_TRY(const Plan sketch, untitled(answers, answers.stack.empty() ? "generic" : answers.stack));
    FOURFOLD_TRY(const ResolvedPlan known, resolve(sketch, presets));
    const std::string stack = answers.stack.empty() ? usual_stack(known.model, known.cluster, presets) : answers.stack;
    FOURFOLD_TRY(Plan written, untitled(answers, stack));
    written.document["name"] = known.model.name + " on " + std::to_string(answers.gpus) + " x "
        + (known.cluster.gpu.name.empty() ? known.cluster.name : known.cluster.gpu.name);
    FOURFOLD_TRY(ResolvedPlan plan, resolve(written, presets));
    plan.training.global_batch = usual_batch(plan);

    const SearchRequest request = request_of(plan);
    const SearchResult result = search(request, observer, stop);
    if (result.best.empty() || result.cancelled)
        return nothing_fits(request, result, observer, stop);

    Recommendation out;
    out.counts = result.counts;
    const ResolvedPlan best = plan_of(result.best.front(), request);
    FOURFOLD_TRY(out.plan, with_layout(written, best));
    out.prediction = predict_with_evidence(best);
    const double step = out.prediction.step_time_s.value_or(0);
    TrainingBudget budget;
    constexpr double kDay = 86400;
    budget.tokens = answers.extent.days > 0 && step > 0 ? answers.extent.days * kDay / step * best.tokens_per_step()
        : answers.extent.tokens > 0                     ? answers.extent.tokens
                                                        : chinchilla_tokens(best.model);
    if (answers.extent.days == 0 && answers.extent.tokens == 0)
        budget.tokens_from = TokensFrom::parameters;
    constexpr double kMostTokens = 1e18; // of a plan's run
    if (!(budget.tokens >= 1 && budget.tokens <= kMostTokens))
        return Problem{ProblemCode::bad_input,
            extent_text(answers.extent) + " would be " + text_of("%.4g", budget.tokens)
                + " tokens on these GPUs, expected 1 to 1e+18",
            "ask for another amount of training", ""};
    budget.price_per_gpu_hour = answers.price_per_gpu_hour;
    out.economics = economics_of(best, step, budget);
    out.plan.document["run"] = {{"tokens", std::round(budget.tokens)}};
    if (!std::isnan(budget.price_per_gpu_hour))
        out.plan.document["budget"] = {{"price_per_gpu_hour", budget.price_per_gpu_hour}};
    FOURFOLD_TRY(out.plan, plan_from_json(std::move(out.plan.document), ""));
    out.reasons = reasons_of(out.prediction, out.counts);
    out.assumed = assumptions(answers, best, out.economics, answers.stack.empty());

    for (const FoundLayout* found : runners_up(result, request)) {
        const ResolvedPlan other = plan_of(*found, request);
        RunnerUp runner;
        runner.differs = edit_summary(best, other);
        FOURFOLD_TRY(runner.plan, with_layout(out.plan, other));
        runner.prediction = predict_with_evidence(other);
        runner.speed_change = runner.prediction.tps_per_gpu.value_or(0) / out.prediction.tps_per_gpu.value_or(1) - 1;
        out.runner_ups.push_back(std::move(runner));
    }
    std::stable_sort(out.runner_ups.begin(), out.runner_ups.end(),
        [](const RunnerUp& a, const RunnerUp& b) { return a.speed_change > b.speed_change; });
    return out;
}

Json to_json(const Recommendation& recommendation)
{
    Json json = {{"plan", recommendation.plan.document}, {"prediction", to_json(recommendation.prediction)},
        {"economics", to_json(recommendation.economics)}, {"reasons", recommendation.reasons},
        {"assumed", recommendation.assumed}, {"runner_ups", Json::array()}};
    for (const RunnerUp& runner : recommendation.runner_ups)
        json["runner_ups"].push_back({{"differs", runner.differs}, {"speed_change", runner.speed_change},
            {"tps_per_gpu", number_or_null(runner.prediction.tps_per_gpu)},
            {"memory_device_gib", number_or_null(runner.prediction.memory_device_gib)},
            {"plan", runner.plan.document}});
    return json;
}

} // namespace fourfold
