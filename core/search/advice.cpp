// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/advice.h"

#include "core/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

namespace fourfold {
namespace {

bool meets(const AdviceRequest& request, const Prediction& prediction)
{
    return prediction.fit != Fit::no && (!request.also || request.also(prediction));
}

// Nothing of the prediction but what advice tells.
std::optional<Advice> told(const PlanEdit& edit, const Prediction& prediction, const Prediction& now)
{
    if (!prediction.step_time_s || !prediction.memory_device_gib || !now.tps_per_gpu || !now.memory_device_gib)
        return std::nullopt;
    Advice advice;
    advice.edit = edit;
    advice.fit = prediction.fit;
    advice.evidence = prediction.evidence;
    const double stretch = now.own_shift // and nothing is faster than anything can be
        ? std::max(now.own_shift->factor, prediction.least.step_s / *prediction.step_time_s)
        : 1;
    advice.step_time_s = *prediction.step_time_s * stretch;
    advice.tps_per_gpu = *prediction.tps_per_gpu / stretch;
    advice.memory_gib = prediction.memory_gib.value_or(0);
    advice.memory_device_gib = *prediction.memory_device_gib;
    advice.speed_change = advice.tps_per_gpu / *now.tps_per_gpu - 1;
    advice.job_speed_change = edit.plan.gpus * advice.tps_per_gpu / (now.plan.gpus * *now.tps_per_gpu) - 1;
    advice.memory_change_gib = *prediction.memory_device_gib - *now.memory_device_gib;
    advice.gpus_change = edit.plan.gpus - now.plan.gpus;
    return advice;
}

std::optional<Advice> judged(const PlanEdit& edit, const Prediction& now, const AdviceRequest& request)
{
    const Prediction prediction = predict(edit.plan);
    std::optional<Advice> advice = told(edit, prediction, now);
    if (advice)
        advice->meets = meets(request, prediction);
    return advice;
}

// Each edit's advice at its own place, so that the answer does not depend on which thread came first.
std::vector<Advice> judge_all(const std::vector<PlanEdit>& edits, const Prediction& now, const AdviceRequest& request,
    const std::stop_token& stop)
{
    std::vector<std::optional<Advice>> found(edits.size());
    for_each_parallel(
        edits.size(), request.threads, stop, [&](std::size_t i) { found[i] = judged(edits[i], now, request); });
    std::vector<Advice> list;
    for (std::optional<Advice>& advice : found) {
        if (advice)
            list.push_back(*std::move(advice));
    }
    return list;
}

// Cheapest first, and of each kind and class of change the first.
std::vector<Advice> ranked(std::vector<Advice> list, int most)
{
    const auto price = [](const Advice& advice) {
        return std::tuple(advice.edit.edit_class, advice.gpus_change, -advice.speed_change, advice.memory_device_gib,
            std::string_view(advice.edit.summary));
    };
    std::stable_sort(list.begin(), list.end(), [&](const Advice& a, const Advice& b) { return price(a) < price(b); });
    std::set<std::pair<std::string, EditClass>> seen;
    std::erase_if(list, [&](const Advice& advice) {
        return !seen.insert({advice.edit.kind, advice.edit.edit_class}).second;
    });
    if (list.size() > static_cast<std::size_t>(std::max(0, most)))
        list.resize(static_cast<std::size_t>(std::max(0, most)));
    return list;
}

std::vector<Advice> fitting(const std::vector<Advice>& list)
{
    std::vector<Advice> fit;
    std::copy_if(list.begin(), list.end(), std::back_inserter(fit), [](const Advice& advice) { return advice.meets; });
    return fit;
}

// Pairs of the changes that save the most memory, of different kinds.
std::vector<PlanEdit> saving_pairs(const ResolvedPlan& plan, std::vector<Advice> list)
{
    constexpr std::size_t kSavers = 12; // 66 pairs
    std::erase_if(list, [](const Advice& advice) { return advice.memory_change_gib >= 0; });
    std::stable_sort(list.begin(), list.end(),
        [](const Advice& a, const Advice& b) { return a.memory_change_gib < b.memory_change_gib; });
    // Two of a kind are enough: the rest would be pairs of near equals.
    std::vector<Advice> savers;
    for (Advice& advice : list) {
        const auto same = std::count_if(
            savers.begin(), savers.end(), [&](const Advice& other) { return other.edit.kind == advice.edit.kind; });
        if (same < 2 && savers.size() < kSavers)
            savers.push_back(std::move(advice));
    }
    std::vector<PlanEdit> pairs;
    for (std::size_t i = 0; i < savers.size(); ++i) {
        for (std::size_t j = i + 1; j < savers.size(); ++j) {
            if (savers[i].edit.kind == savers[j].edit.kind)
                continue;
            PlanEdit both = combined_edits(plan, savers[i].edit, savers[j].edit);
            if (check(both.plan).empty())
                pairs.push_back(std::move(both));
        }
    }
    return pairs;
}

Json to_json(const Advice& advice)
{
    Json fields = Json::array();
    for (const PlanEdit::Field& field : advice.edit.fields)
        fields.push_back({{"path", field.path}, {"value", field.value}});
    return {{"change", advice.edit.summary}, {"kind", advice.edit.kind}, {"class", name(advice.edit.edit_class)},
        {"fields", std::move(fields)}, {"gpus", advice.edit.plan.gpus}, {"fit", name(advice.fit)},
        {"evidence", name(advice.evidence)}, {"step_time_s", advice.step_time_s}, {"tps_per_gpu", advice.tps_per_gpu},
        {"memory_gib", advice.memory_gib}, {"memory_device_gib", advice.memory_device_gib},
        {"speed_change", advice.speed_change}, {"job_speed_change", advice.job_speed_change},
        {"memory_change_gib", advice.memory_change_gib}, {"gpus_change", advice.gpus_change}};
}

} // namespace

std::optional<Advice> judge(const PlanEdit& edit, const Prediction& now)
{
    return told(edit, predict(edit.plan), now);
}

AdviceReport advise(const AdviceRequest& request, std::stop_token stop) // NOLINT(performance-unnecessary-value-param)
{
    AdviceReport report;
    report.now = request.now ? *request.now : predict(request.plan);
    if (!report.now.step_time_s || !report.now.memory_device_gib)
        return report;
    const bool fits = meets(request, report.now);
    if ((fits || !request.to_fit) && !request.faster)
        return report;
    const std::vector<PlanEdit> edits = single_edits(request.plan);
    const std::vector<Advice> all = judge_all(edits, report.now, request, stop);
    report.tried = std::int64_t(all.size());
    if (!fits && request.to_fit) {
        report.to_fit = fitting(all);
        if (report.to_fit.empty()) {
            const std::vector<Advice> pairs = judge_all(saving_pairs(request.plan, all), report.now, request, stop);
            report.tried += std::int64_t(pairs.size());
            report.to_fit = fitting(pairs);
            report.pairs = !report.to_fit.empty();
        }
        report.to_fit = ranked(std::move(report.to_fit), request.most);
    }
    if (request.faster) {
        report.faster = fitting(all);
        std::erase_if(report.faster, [](const Advice& advice) {
            return advice.job_speed_change < kWorthwhile || advice.speed_change < -kMostLossOfMoreGpus
                || (advice.edit.edit_class != EditClass::gpus && advice.speed_change < kWorthwhile);
        });
        report.faster = ranked(std::move(report.faster), request.most);
    }
    report.cancelled = stop.stop_requested();
    return report;
}

Json to_json(const AdviceReport& report)
{
    Json json{{"tried", report.tried}, {"pairs", report.pairs}, {"to_fit", Json::array()}, {"faster", Json::array()}};
    for (const Advice& advice : report.to_fit)
        json["to_fit"].push_back(to_json(advice));
    for (const Advice& advice : report.faster)
        json["faster"].push_back(to_json(advice));
    return json;
}

} // namespace fourfold
