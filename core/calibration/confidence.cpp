// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/confidence.h"
#include "core/base/json.h"
#include "core/calibration/figures.h"
#include "core/predict/interval.h"
#include "core/predict/rank.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold {

namespace {

struct BandConstant {
    Band band;
    const char* constant;
};
constexpr std::array kBandConstants{BandConstant{Band::node, "interval_node"},
    BandConstant{Band::tens, "interval_tens"}, BandConstant{Band::hundreds, "interval_hundreds"}};

using Rows = std::vector<const ScoredRow*>;

std::vector<GroupedError> memory_errors(const Rows& rows)
{
    std::vector<GroupedError> errors;
    for (const ScoredRow* row : rows) {
        if (row->memory_error_gib())
            errors.push_back({row->group, std::log(*row->memory_gib / *row->row->memory_gib)});
    }
    return errors;
}

double rounded(double width)
{
    return std::ceil(width * 1e4) / 1e4;
}

double memory_share(const ScoredRow& row)
{
    return row.memory_device_gib.value_or(0) / row.row->plan.cluster.gpu.memory_gib;
}

// Links that the plan used, and the size of its model.
void take_reach(MeasuredDomain& domain, const ResolvedPlan& plan)
{
    const auto thousandths = [](double billions) { return std::round(billions * 1e3) / 1e3; };
    if (plan.gpus > 1 && plan.cluster.gpus_per_node > 1)
        domain.intra_node_gb_s.take(plan.cluster.intra_node.link_gb_s());
    if (plan.gpus > plan.cluster.gpus_per_node)
        domain.inter_node_gb_s.take(plan.cluster.inter_node.bandwidth_gb_s);
    domain.parameters_b.take(thousandths(plan.model.parameters() / 1e9));
    domain.seq_len.take(plan.training.seq_len);
    if (!plan.cluster.id.empty())
        domain.clusters.insert(plan.cluster.id);
}

MeasuredDomain domain_of(const Rows& rows)
{
    MeasuredDomain domain;
    std::map<Regime, int> counts;
    std::vector<int> pipelines;
    for (const ScoredRow* row : rows) {
        if (!row->row->ran() || !row->tps_per_gpu)
            continue;
        const ResolvedPlan& plan = row->row->plan;
        ++domain.runs;
        domain.generation = plan.cluster.gpu.generation;
        domain.kernels.insert(plan.training.attention);
        domain.gpus = std::max(domain.gpus, plan.gpus);
        take_reach(domain, plan);
        if (plan.layout.pp > 1)
            pipelines.push_back(plan.gpus);
        for (const Regime regime : regimes_of(plan, memory_share(*row)))
            ++counts[regime];
    }
    std::sort(pipelines.rbegin(), pipelines.rend());
    if (pipelines.size() >= std::size_t(kRegimeRuns))
        domain.pipeline_gpus = pipelines[kRegimeRuns - 1];
    for (const auto& [regime, runs] : counts) {
        if (runs >= kRegimeRuns)
            domain.regimes.insert(regime);
    }
    return domain;
}

GpuConfidence gpu_confidence(const Rows& rows, const Widths::Bands* widths)
{
    GpuConfidence confidence;
    confidence.domain = domain_of(rows);
    if (widths == nullptr)
        return confidence;
    for (const auto& [band, constant] : kBandConstants)
        confidence.constants[constant] = rounded((*widths)[static_cast<std::size_t>(band)]);
    if (const auto errors = memory_errors(rows); !errors.empty())
        confidence.constants["interval_memory"] = rounded(predictive_width(errors));
    if (const double spread = error_of_differences(rows); spread > 0)
        confidence.constants["tie_width"] = rounded(tie_width(spread));
    std::vector<double> ran, out_of_memory;
    for (const ScoredRow* row : rows) {
        const bool other_rule = row->crash && !row->out_of_memory; // explains a crash without memory
        if (memory_share(*row) <= 0 || other_rule)
            continue;
        if (row->row->ran())
            ran.push_back(-std::log(memory_share(*row)));
        else if (row->row->status == CellStatus::oom)
            out_of_memory.push_back(-std::log(memory_share(*row)));
    }
    if (int(out_of_memory.size()) >= kFewRows)
        confidence.constants["interval_device_memory"] = rounded(device_memory_width(ran, out_of_memory));
    else if (confidence.constants.contains("interval_memory"))
        confidence.constants["interval_device_memory"] = confidence.constants["interval_memory"];
    return confidence;
}

} // namespace

double device_memory_width(const std::vector<double>& ran, const std::vector<double>& out_of_memory)
{
    constexpr double kMistaken = 0.02;
    const auto likelihood = [&](double deviation) {
        const auto fits = [&](double room) {
            return kMistaken / 2 + (1 - kMistaken) * 0.5 * std::erfc(-room / deviation / std::sqrt(2.0));
        };
        double sum = 0;
        for (const double room : ran)
            sum += std::log(fits(room));
        for (const double room : out_of_memory)
            sum += std::log(1 - fits(room));
        return sum;
    };
    double best = 0.01;
    for (double deviation = 0.01; deviation < 0.5; deviation *= 1.02) {
        if (likelihood(deviation) > likelihood(best))
            best = deviation;
    }
    return best * kHalfOf90;
}

std::vector<StackConfidence> confidence_of(const std::vector<ScoreCard>& cards, const Widths& widths)
{
    std::map<std::string, std::map<std::string, Rows>> by_stack;
    for (const ScoreCard& card : cards) {
        if (card.views.empty() || !card.views.front().scored.split)
            continue;
        for (const ScoredRow& row : card.views.front().scored.rows) {
            const ResolvedPlan& plan = row.row->plan;
            if (row.row->in_core && !row.row->excluded)
                by_stack[plan.stack.id][plan.cluster.gpu.id].push_back(&row);
        }
    }
    std::vector<StackConfidence> list;
    for (const auto& [stack, gpus] : by_stack) {
        StackConfidence& confidence = list.emplace_back();
        confidence.stack = stack;
        if (const auto routed = widths.experts_of.find(stack); routed != widths.experts_of.end())
            confidence.constants["interval_experts"] = rounded(routed->second);
        for (const auto& [gpu, rows] : gpus) {
            const auto own = widths.measured.find({stack, gpu});
            confidence.gpus[gpu] = gpu_confidence(rows, own == widths.measured.end() ? nullptr : &own->second);
            for (const ScoredRow* row : rows) {
                if (const std::string& release = row->row->plan.stack.release; !release.empty() && row->row->ran())
                    confidence.releases[release].insert(gpu);
            }
        }
    }
    return list;
}

Expected<void> write_confidence(const StackConfidence& confidence, const std::filesystem::path& presets)
{
    const auto file = presets / "stacks" / (confidence.stack + ".json");
    FOURFOLD_TRY(Json json, read_json_file(file));
    MeasuredDomains domains;
    if (json.contains("measured")) {
        FOURFOLD_TRY(domains, domains_from_json(json["measured"], file.string() + ": measured"));
    }
    for (const auto& [constant, value] : confidence.constants)
        json["constants"][constant] = value;
    for (const auto& [gpu, entry] : confidence.gpus) {
        for (const auto& [constant, value] : entry.constants)
            json["gpu_constants"][gpu][constant] = value;
        domains[gpu] = entry.domain;
    }
    json["measured"] = to_json(domains);
    for (const auto& [release, gpus] : confidence.releases)
        release_entry(json, release)["gpus"] = gpus;
    return write_file_atomically(file, json.dump(2) + "\n");
}

Expected<void> write_widths(const Widths& widths, const std::filesystem::path& presets)
{
    std::error_code error;
    for (std::filesystem::directory_iterator entry(presets / "stacks", error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() != ".json")
            continue;
        FOURFOLD_TRY(Json json, read_json_file(entry->path()));
        // One that was fitted to measurements of another kind has its own.
        const std::string id = entry->path().stem().string();
        const bool fitted = json.contains("gpu_constants") && !json["gpu_constants"].empty();
        const bool known = std::any_of(
            widths.measured.begin(), widths.measured.end(), [&](const auto& body) { return body.first.first == id; });
        if (fitted && !known)
            continue;
        Json& constants = json["constants"];
        for (const auto& [band, constant] : kBandConstants)
            constants[constant] = rounded(widths.usual[static_cast<std::size_t>(band)]);
        constants["interval_elsewhere"] = rounded(widths.elsewhere);
        constants["interval_gpu"] = rounded(widths.gpu);
        constants["interval_unmeasured"] = rounded(widths.unmeasured);
        constants["interval_experts"] = rounded(widths.experts);
        FOURFOLD_CHECK(write_file_atomically(entry->path(), json.dump(2) + "\n"));
    }
    return {};
}

} // namespace fourfold
