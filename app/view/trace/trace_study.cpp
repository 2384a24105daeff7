// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/trace/trace_study.h"

#include "app/view/plan/facts.h"
#include "app/view/text.h"
#include "core/predict/step_time.h"
#include "core/predict/term_off.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace fourfold::view {

namespace {

const Timeline* stages_of(const TraceBeside& beside)
{
    if (beside.stages)
        return &*beside.stages;
    return beside.prediction && !beside.prediction->timeline.spans.empty() ? &beside.prediction->timeline : nullptr;
}

void study_stages(TraceStudy& study, const ListedStep& measured, const TraceBeside& beside)
{
    study.measured = TimelineScene(measured.timeline);
    study.measured.set_steady(measured.steady);
    study.measured_words = counted(measured.timeline.stages, "stage");
    if (const Timeline* planned = stages_of(beside)) {
        study.predicted = TimelineScene(*planned);
        if (!beside.stages)
            study.predicted.set_steady(steady_part(*beside.prediction));
        study.predicted_words = counted(planned->stages, "stage");
        study.ranks.push_back({-1, stage_parts({*planned, study.predicted.steady()}, measured), {}});
        if (planned->stages != measured.timeline.stages)
            study.remarks.push_back("the trace has " + counted(measured.timeline.stages, "stage") + ", the plan "
                + counted(planned->stages, "stage"));
    }
}

// The stages that the profiled ranks are of; of a plan that has other ranks the first one.
std::vector<int> stages_of(const std::vector<int>& ranks, const ResolvedPlan& plan)
{
    std::set<int> stages;
    for (const int rank : ranks)
        stages.insert(rank >= 0 && rank < plan.gpus ? plan.layout.coordinates(rank).pp : 0);
    return {stages.begin(), stages.end()};
}

void predict_kernels(TraceStudy& study, const TraceBeside& beside, const std::vector<int>& stages)
{
    if (!beside.prediction)
        return;
    const KernelTimeline kernels = predicted_kernels(*beside.prediction, stages);
    study.predicted = TimelineScene(kernels);
    study.predicted.set_steady(steady_part(*beside.prediction));
    study.predicted_words = schedule_fact(beside.prediction->plan);
    if (kernels.is_cut)
        study.remarks.push_back("of more than " + grouped(double(kMostPredictedKernels))
            + " predicted kernels those of later micro-batches are drawn pass by pass");
}

} // namespace

Table stage_parts(const ListedStep& predicted, const ListedStep& measured)
{
    Table table;
    table.columns = {{"part", "PART"}, {"predicted_s", "PREDICTED ms", 1, 1e3}, {"measured_s", "MEASURED ms", 1, 1e3},
        {"difference_s", "DIFFERENCE ms", 1, 1e3}};
    const auto add = [&table](const TermOff& term) {
        table.rows.push_back({term.term, term.predicted_s, term.measured_s, term.difference_s()});
    };
    for (const TermOff& term : terms_off(predicted, measured))
        add(term);
    add({"step", predicted.timeline.length_s, measured.timeline.length_s});
    return table;
}

Expected<RunTrace> trace_of_run(const RunDetail& run)
{
    std::optional<Timeline> measured = measured_step(run.other_events);
    if (!measured)
        return Problem{ProblemCode::not_found, "the run told of no traced step",
            "the trainer traces one after the warm-up", run.summary.id};
    FOURFOLD_TRY(Timeline planned, predicted_step(run.plan));
    return RunTrace{{run.summary.name + ", traced", {}, std::move(measured)},
        {run.summary.name + ", as planned", nullptr, std::move(planned)}};
}

ReadTraces read_traces(const std::vector<std::filesystem::path>& files, const std::stop_token& stop)
{
    ReadTraces read;
    for (const std::filesystem::path& file : files) {
        if (stop.stop_requested())
            break;
        if (Expected<StepTrace> trace = read_step_trace(file))
            read.traces.push_back(std::make_shared<const StepTrace>(*std::move(trace)));
        else
            read.problems.push_back(trace.error());
    }
    return read;
}

void add_traces(Traces& there, const Traces& read)
{
    const auto is_of_stages = [](const auto& trace) { return trace->stages.has_value(); };
    if (!read.empty() && (std::ranges::any_of(read, is_of_stages) || std::ranges::any_of(there, is_of_stages)))
        there = {read.back()};
    else
        there.insert(there.end(), read.begin(), read.end());
}

std::vector<int> ranks_of(const Traces& traces)
{
    std::vector<int> ranks;
    int unknown = 0;
    for (const auto& trace : traces)
        unknown = std::max(unknown, trace->profile ? trace->profile->rank + 1 : 0);
    for (const auto& trace : traces)
        ranks.push_back(trace->profile && trace->profile->rank >= 0 ? trace->profile->rank : unknown++);
    return ranks;
}

std::vector<std::int64_t> common_steps(const Traces& traces)
{
    std::optional<std::set<std::int64_t>> common;
    for (const auto& trace : traces) {
        std::set<std::int64_t> steps;
        if (trace->profile) {
            for (const ProfiledStep& step : trace->profile->steps) {
                if (!common || common->contains(step.number))
                    steps.insert(step.number);
            }
        }
        common = std::move(steps);
    }
    return common ? std::vector<std::int64_t>(common->begin(), common->end()) : std::vector<std::int64_t>();
}

namespace {
// What keeps several traces from being ranks of one step.
void remark_on_ranks(const Traces& traces, std::vector<std::string>& remarks)
{
    std::set<int> ranks, twice, jobs;
    bool has_steps = traces.size() > 1;
    for (const auto& trace : traces) {
        if (!trace->profile)
            continue;
        if (trace->profile->rank >= 0 && !ranks.insert(trace->profile->rank).second)
            twice.insert(trace->profile->rank);
        if (trace->profile->ranks > 0)
            jobs.insert(trace->profile->ranks);
        has_steps = has_steps && !trace->profile->steps.empty();
    }
    for (const int rank : twice)
        remarks.push_back("several traces say that they are of rank " + std::to_string(rank));
    if (jobs.size() > 1)
        remarks.push_back("the traces are of trainings with " + std::to_string(*jobs.begin()) + " and "
            + counted(*jobs.rbegin(), "rank"));
    if (has_steps && common_steps(traces).empty())
        remarks.emplace_back("the traces have no step in common: the last one of each is shown");
}
} // namespace

Expected<TraceStudy> study_traces(const Traces& traces, const TraceBeside& beside, std::int64_t step)
{
    TraceStudy study;
    if (traces.size() == 1 && traces.front()->stages) {
        study_stages(study, {*traces.front()->stages, traces.front()->steady}, beside);
        study.length_s = std::max(study.predicted.length(), study.measured.length());
        return study;
    }
    std::vector<RankStep> steps;
    const std::vector<int> ranks = ranks_of(traces);
    if (const std::vector<std::int64_t> common = common_steps(traces); step < 0 && !common.empty())
        step = common.back();
    remark_on_ranks(traces, study.remarks);
    int job = 0;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        if (!traces[i]->profile)
            return Problem{ProblemCode::bad_input, "is of stages and cannot stand among kernels", "open it by itself",
                traces[i]->name};
        Expected<StepProfile> profiled = step_of(*traces[i]->profile, step);
        if (!profiled) {
            profiled.error().where = traces[i]->name;
            return std::move(profiled).error();
        }
        job = std::max(job, traces[i]->profile->ranks);
        steps.push_back({ranks[i], *std::move(profiled)});
    }
    std::vector<int> stages;
    if (beside.prediction && traces.empty()) {
        stages.resize(static_cast<std::size_t>(std::max(0, beside.prediction->plan.layout.pp)));
        std::iota(stages.begin(), stages.end(), 0);
    } else if (beside.prediction) {
        stages = stages_of(ranks, beside.prediction->plan);
        if (job > 0 && job != beside.prediction->plan.gpus)
            study.remarks.push_back("the profiled training has " + counted(job, "rank") + ", the plan "
                + counted(beside.prediction->plan.gpus, "GPU"));
    }
    predict_kernels(study, beside, stages);
    for (const RankStep& rank : steps) {
        TraceStudy::Rank tables{rank.rank, {}, collectives_table(collective_uses(rank.step))};
        if (beside.prediction)
            tables.parts = parts_table(part_differences(*beside.prediction, rank.step));
        study.ranks.push_back(std::move(tables));
    }
    std::ranges::stable_sort(study.ranks, {}, &TraceStudy::Rank::rank);
    if (!steps.empty()) {
        study.measured = TimelineScene(measured_kernels(steps));
        study.measured_words = (step >= 0 ? "step " + std::to_string(step) : std::string("all of the trace")) + ", "
            + counted(double(steps.size()), "rank") + ", " + counted(double(study.measured.barCount()), "kernel");
        const std::string& device = traces.front()->profile->device;
        if (!device.empty())
            study.measured_words += ", " + device;
    }
    study.length_s = std::max(study.predicted.length(), study.measured.length());
    return study;
}

} // namespace fourfold::view
