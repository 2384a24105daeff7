// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/layout_stages.h"

#include "core/schedule/schedules.h"

#include <algorithm>

namespace fourfold {

void LayoutStages::find_kinds(const ResolvedPlan& plan)
{
    kinds_.clear();
    kind_of_chunk_.clear();
    const std::vector<int>& layers = plan.layout.stage_layers;
    int first_layer = 0;
    for (std::size_t chunk = 0; chunk < layers.size(); ++chunk) {
        const int dense = dense_layers(plan.model, first_layer, layers[chunk]);
        const ChunkKind kind{dense, layers[chunk] - dense, chunk == 0, chunk + 1 == layers.size()};
        first_layer += layers[chunk];
        const auto known = std::find(kinds_.begin(), kinds_.end(), kind);
        kind_of_chunk_.push_back(int(known - kinds_.begin()));
        if (known == kinds_.end())
            kinds_.push_back(kind);
    }
}

void LayoutStages::find_runs(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const Schedule schedule = plan.training.schedule;
    const int chunks = int(kind_of_chunk_.size());
    // Stages of these schedules do not hold less the later they stand.
    const bool alone = traits_of(schedule).in_flight == InFlight::replayed;
    virtual_stages_ = static_cast<std::size_t>(layout.virtual_stages);
    runs_.clear();
    run_chunks_.clear();
    const auto home = [&](int chunk) { return stage_of_chunk(schedule, layout.pp, chunk); };
    for (int stage = 0; stage < layout.pp; ++stage) {
        int receives = 0;
        const std::size_t begin = run_chunks_.size();
        for (int row = 0; row < layout.virtual_stages; ++row) {
            const int other = (row + 1) * layout.pp - 1 - stage; // where the row walks back
            const int chunk = home(other) == stage ? other : row * layout.pp + stage;
            run_chunks_.push_back(kind_of_chunk_[static_cast<std::size_t>(chunk)]);
            receives += chunk > 0 && home(chunk - 1) != stage ? 1 : 0;
            receives += chunk + 1 < chunks && home(chunk + 1) != stage ? 1 : 0;
        }
        const auto own = std::span(run_chunks_).subspan(begin);
        const bool like_the_last = !runs_.empty() && !alone && runs_.back().receives == receives
            && std::equal(own.begin(), own.end(), own.begin() - std::ptrdiff_t(virtual_stages_));
        if (like_the_last) {
            ++runs_.back().stages;
            run_chunks_.resize(begin);
        } else {
            runs_.push_back({stage, 1, receives, {}, {}});
        }
    }
}

bool LayoutStages::repeats(std::size_t run) const
{
    return run > 0 && std::ranges::equal(chunks_of(run), chunks_of(run - 1));
}

void LayoutStages::find(const ResolvedPlan& plan, const StageTermTable& table)
{
    find_kinds(plan);
    find_runs(plan);
    prices_.clear();
    now_ = kUnpriced;
    parameters_.clear();
    for (const ChunkKind& kind : kinds_)
        parameters_.push_back(table.parameters(plan, {&kind, 1}));
    std::vector<ChunkKind> own;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        Run& run = runs_[i];
        if (repeats(i)) {
            run.parameters = runs_[i - 1].parameters;
            run.bytes = runs_[i - 1].bytes;
            continue;
        }
        own.clear();
        for (const int kind : chunks_of(i))
            own.push_back(kinds_[static_cast<std::size_t>(kind)]);
        run.parameters = table.parameters(plan, own);
        run.bytes = table.stage_bytes(plan, run.parameters);
    }
}

void LayoutStages::price(const ResolvedPlan& plan, StageTermTable& table)
{
    if (now_ != kUnpriced)
        return;
    const StageTermTable::Places places = table.places();
    const auto known
        = std::find_if(prices_.begin(), prices_.end(), [&](const Prices& prices) { return prices.places == places; });
    now_ = static_cast<std::size_t>(known - prices_.begin());
    if (known != prices_.end())
        return;
    Prices& prices = prices_.emplace_back();
    prices.places = places;
    for (const StageParameters& chunk : parameters_)
        prices.additions.push_back(table.additions(plan, chunk));
    for (std::size_t run = 0; run < runs_.size(); ++run)
        prices.steps.push_back(repeats(run) ? prices.steps.back() : table.step(plan, runs_[run].parameters));
}

} // namespace fourfold
