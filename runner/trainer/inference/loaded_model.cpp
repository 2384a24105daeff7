// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/loaded_model.h"

#include "runner/trainer/checkpoint/checkpoint.h"
#include "runner/trainer/checkpoint/contents.h"
#include "runner/trainer/device/device.h"
#include "runner/trainer/inference/one_rank_plan.h"
#include "runner/trainer/model/decoder.h"
#include "runner/trainer/pipeline_parallel/message_plan.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include <numeric>

namespace fourfold::trainer {

struct LoadedModel::State {
    State(ResolvedPlan of, PlanSchedule schedule, const at::TensorOptions& type)
        : plan(std::move(of))
        , mesh(make_mesh(plan, 0, std::move(schedule), {})) // one rank needs no wires
        , weights(make_weights(type))
        , units(weights, plan.training.fsdp, false, false)
        , options(type)
    {
    }

    Weights make_weights(const at::TensorOptions& type)
    {
        auto shards = shard_table(plan, mesh.schedule.stage_of_chunk, 0, 0);
        auto buckets
            = plan_buckets(shards, default_bucket_capacity(shards), [](const Shard&) { return ReplicaGroups(); });
        return Weights(std::move(shards), std::move(buckets), mesh, 0, type, at::kFloat, false);
    }

    ResolvedPlan plan;
    Mesh mesh;
    Weights weights;
    ParameterUnits units;
    mutable WeightGradients later;
    at::TensorOptions options;
};

LoadedModel::LoadedModel(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
LoadedModel::~LoadedModel() = default;

Expected<std::unique_ptr<LoadedModel>> LoadedModel::open(const std::filesystem::path& checkpoint)
{
    const std::filesystem::path folder = checkpoint_folder(checkpoint);
    FOURFOLD_TRY(const CheckpointContents contents, CheckpointContents::open(folder, 0, 1, asked_by("--model")));
    FOURFOLD_TRY(ResolvedPlan plan, one_rank_plan(folder));
    FOURFOLD_TRY(PlanSchedule schedule, listed_schedule(plan));
    const bool cuda = !gpu_ids().empty();
    if (cuda)
        select_gpu(0);
    const at::NoGradGuard no_graph;
    auto state = std::make_unique<State>(std::move(plan), std::move(schedule),
        at::TensorOptions().dtype(at::kFloat).device(cuda ? at::kCUDA : at::kCPU));
    FOURFOLD_CHECK(read_tensors(contents.model, state->plan.model, state->weights, state->weights.masters(), ""));
    state->units.publish();
    return std::unique_ptr<LoadedModel>(new LoadedModel(std::move(state)));
}

const ModelShape& LoadedModel::shape() const
{
    return state_->plan.model;
}

Expected<at::Tensor> LoadedModel::log_softmax(const at::Tensor& logits) const
{
    const at::Tensor log_probabilities = at::log_softmax(logits.to(at::kFloat), -1).cpu();
    if (!at::isfinite(log_probabilities).all().item<bool>())
        return Problem{ProblemCode::failed, "the model gives no numbers: its weights hold values that are not finite",
            "take an earlier checkpoint", state_->plan.name};
    return log_probabilities;
}

Expected<at::Tensor> LoadedModel::log_probabilities(const std::vector<int64_t>& tokens) const
{
    const at::NoGradGuard no_graph;
    ResolvedPlan plan = state_->plan; // of this length
    plan.training.seq_len = static_cast<int>(tokens.size());
    std::vector<int64_t> positions(tokens.size());
    std::iota(positions.begin(), positions.end(), 0);
    const BlockSettings settings
        = block_settings(plan, state_->mesh, positions, state_->options, state_->later, nullptr);
    const auto decoders = make_decoders(plan, state_->mesh, state_->weights, state_->units, settings, positions);
    const at::Tensor ids
        = at::tensor(at::ArrayRef<int64_t>(tokens), at::kLong).unsqueeze(1).to(state_->options.device());
    const at::Tensor stream = decoders[0].forward(ids, {});
    return log_softmax(decoders[0].logits(stream).squeeze(1).narrow(1, 0, plan.model.vocab));
}

std::unique_ptr<TextReader> LoadedModel::begin_text() const
{
    return std::make_unique<TextReader>(
        TextReader::Model{state_->plan, state_->mesh, state_->weights, state_->units, state_->later, state_->options});
}

Expected<at::Tensor> LoadedModel::log_probabilities(TextReader& text, const std::vector<int64_t>& tokens) const
{
    return log_softmax(text.read(tokens));
}

} // namespace fourfold::trainer
