// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/term_off.h"
#include "core/base/json_member.h"
#include "core/base/text.h"

#include "core/plan/plan.h"
#include "core/plan/presets.h"
#include "core/predict/step_time.h"
#include "core/schedule/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fourfold {

namespace {

// Overlapping spans of one stage (communication beside compute) count in full in their own terms, and once as busy.
std::map<std::string, double> terms_of(const ListedStep& step)
{
    const Timeline& timeline = step.timeline;
    std::map<std::string, double> terms;
    if (timeline.stages < 1)
        return terms;
    std::vector<std::vector<std::pair<double, double>>> busy(static_cast<std::size_t>(timeline.stages));
    int listed = 0;
    for (const Span& span : timeline.spans)
        listed = std::max(listed, span.micro_batch + 1);
    const double passes = step.steady && listed > 0 ? 1 + double(step.steady->micro_batches) / listed : 1;
    for (const Span& span : timeline.spans) {
        terms[std::string(name(span.kind))]
            += (span.end_s - span.start_s) * (span.micro_batch >= 0 ? passes : 1) / timeline.stages;
        if (span.stage >= 0 && span.stage < timeline.stages)
            busy[static_cast<std::size_t>(span.stage)].emplace_back(span.start_s, span.end_s);
    }
    double waiting = 0;
    const double steady = step.steady ? step.steady->end_s - step.steady->begin_s : 0; // which nobody waits for
    for (auto& spans : busy) {
        std::sort(spans.begin(), spans.end());
        double covered = 0, reach = 0;
        for (const auto& [start, end] : spans) {
            covered += std::max(0.0, end - std::max(start, reach));
            reach = std::max(reach, end);
        }
        waiting += std::max(0.0, timeline.length_s - steady - covered) / timeline.stages;
    }
    constexpr double kNothing = 1e-9; // of the step: what sums of lengths lose
    terms["waiting"] = waiting > kNothing * timeline.length_s ? waiting : 0;
    return terms;
}

} // namespace

std::vector<TermOff> terms_off(const ListedStep& predicted, const ListedStep& measured)
{
    std::map<std::string, TermOff> terms;
    for (const auto& [term, seconds] : terms_of(predicted))
        terms[term] = {term, seconds, 0};
    for (const auto& [term, seconds] : terms_of(measured)) {
        terms[term].term = term;
        terms[term].measured_s = seconds;
    }
    std::vector<TermOff> sorted;
    for (auto& [term, off] : terms)
        sorted.push_back(std::move(off));
    std::stable_sort(sorted.begin(), sorted.end(),
        [](const TermOff& a, const TermOff& b) { return std::abs(a.difference_s()) > std::abs(b.difference_s()); });
    return sorted;
}

namespace {
Expected<Prediction> predicted_again(const Json& plan)
{
    FOURFOLD_TRY(const Plan stored, plan_from_json(plan, "stored plan"));
    FOURFOLD_TRY(const ResolvedPlan resolved, resolve(stored, Presets()));
    return predict(resolved);
}
} // namespace

Expected<Timeline> predicted_step(const Json& plan)
{
    FOURFOLD_TRY(Prediction prediction, predicted_again(plan));
    return std::move(prediction.timeline);
}

std::optional<Timeline> measured_step(const std::vector<Json>& events)
{
    const auto trace = std::find_if(events.rbegin(), events.rend(),
        [](const Json& event) { return member_or(event, "event", std::string()) == "trace"; });
    if (trace == events.rend())
        return {};
    Expected<Timeline> measured = timeline_from_chrome_trace(*trace, "trace event");
    return measured ? std::optional(*std::move(measured)) : std::nullopt;
}

std::optional<TermOff> term_most_off(const Json& plan, const std::vector<Json>& events)
{
    const std::optional<Timeline> measured = measured_step(events);
    if (!measured)
        return {};
    const Expected<Prediction> predicted = predicted_again(plan);
    if (!predicted)
        return {};
    const std::vector<TermOff> terms = terms_off({predicted->timeline, steady_part(*predicted)}, *measured);
    return terms.empty() ? std::nullopt : std::optional(terms.front());
}

std::string term_off_text(const TermOff& term)
{
    return text_of("%s: %.3g s predicted, %.3g s measured (%+.3g s)", term.term.c_str(), term.predicted_s,
        term.measured_s, term.difference_s());
}

} // namespace fourfold
