// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/trainer.h"

#include "core/base/seconds.h"
#include "core/plan/graphed_layers.h"
#include "core/plan/trainable.h"
#include "core/program/sharding_operations.h"
#include "runner/trainer/context_parallel/slice.h"
#include "runner/trainer/data/unigram.h"
#include "runner/trainer/device/kind.h"
#include "runner/trainer/model/record_graphs.h"
#include "runner/trainer/model/shard.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace fourfold::trainer {

namespace {
// Of master weights, gradients and everything else that is never bf16.
at::TensorOptions tensor_options(TrainerOptions options)
{
    return at::TensorOptions()
        .dtype(options.fp64 ? at::kDouble : at::kFloat)
        .device(options.rehearsal ? at::kMeta
                : options.cuda    ? at::kCUDA
                                  : at::kCPU);
}

// A comparison in fp64 has nothing else.
at::ScalarType type_of(Precision precision, const at::TensorOptions& exact)
{
    if (exact.dtype() == at::kDouble)
        return at::kDouble;
    switch (precision) {
    case Precision::fp16:
        return at::kHalf;
    case Precision::bf16:
    case Precision::fp8:
    case Precision::nvfp4: // of products alone
        return at::kBFloat16;
    case Precision::fp32:
        break;
    }
    return at::kFloat;
}
} // namespace

Trainer::Trainer(const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options)
    : plan_(plan)
    , mesh_(mesh)
    , options_(options)
    , total_steps_(fourfold::total_steps(plan.training, plan.run))
{
}

Expected<std::unique_ptr<Trainer>> Trainer::create(const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options)
{
    FOURFOLD_CHECK(check_trainer_family(plan.model));
    std::unique_ptr<Trainer> trainer(new Trainer(plan, mesh, options));
    const Training& training = plan.training;
    const SampleRules rules{plan.run.data_order, plan.run.documents, options.padding};
    if (!options.rehearsal) {
        FOURFOLD_TRY(trainer->data_,
            Sampler::open(plan.run.data, {"run.data"}, plan.run.seed, training.seq_len, plan.model.vocab, rules));
    }
    if (const auto& ramp = training.ramp_up;
        ramp && trainer->data_ && double(trainer->data_->windows()) < ramp->samples)
        return Problem{ProblemCode::bad_input,
            "the data hold " + std::to_string(trainer->data_->windows()) + " sequences, the ramp-up takes "
                + std::to_string(int64_t(ramp->samples)),
            "give more data or ramp up over fewer samples", "training.ramp_up.samples"};
    if (!options.rehearsal && !plan.run.eval.data.empty()) {
        FOURFOLD_TRY(trainer->held_out_,
            Sampler::open(
                plan.run.eval.data, {"run.eval.data"}, plan.run.seed, training.seq_len, plan.model.vocab, rules));
    }
    trainer->reader_ = std::make_unique<BatchReader>(trainer->plan_,
        BatchShare{mesh.at.dp, mesh.at.cp, options.replicas, tensor_options(options).device()},
        trainer->data_ ? &*trainer->data_ : nullptr, trainer->held_out_ ? &*trainer->held_out_ : nullptr);
    const bool experts = plan.model.experts.has_value();
    auto shards = shard_table(plan, mesh.schedule.stage_of_chunk, mesh.at.pp, mesh.at.tp,
        experts ? ExpertPlace{mesh[GroupKind::ep].rank(), mesh[GroupKind::etp].rank()} : ExpertPlace{});
    const bool values_too = fully_sharded(training);
    const bool experts_apart = experts
        && (mesh[GroupKind::expert_shard].ranks() != mesh[GroupKind::dp_shard].ranks()
            || mesh[GroupKind::expert_replicate].ranks() != mesh[GroupKind::dp_replicate].ranks());
    const auto groups_of = [&](const Shard& shard) {
        ReplicaGroups groups;
        if (experts_apart && shard.parameter.expert >= 0) {
            groups.shard = GroupKind::expert_shard;
            groups.copies = GroupKind::expert_replicate;
        }
        groups.exact = shard.parameter.role == Role::routing_bias;
        groups.narrow = gathers_fp8(training, plan.layout) && shard.parameter.layer >= 0
            && (shard.parameter.kind == ParameterKind::attention || shard.parameter.kind == ParameterKind::mlp);
        if (training.sharding != Sharding::none) {
            groups.part = mesh[groups.shard].rank();
            groups.parts = mesh[groups.shard].size();
        }
        return groups;
    };
    std::vector<int> chunks; // of a pipeline
    if (plan.layout.pp > 1)
        for (const ModelChunk& chunk : chunks_of(plan, mesh.schedule.stage_of_chunk, mesh.at.pp))
            chunks.push_back(chunk.first_layer);
    auto buckets = values_too ? plan_units(shards, training.fsdp.layers_per_unit, groups_of, chunks)
                              : plan_buckets(shards, default_bucket_capacity(shards), groups_of);
    const auto exact = tensor_options(options);
    trainer->weights_ = std::make_unique<Weights>(std::move(shards), std::move(buckets), mesh, plan.run.seed, exact,
        type_of(training.precision, exact), values_too, training.offload == Offload::optimizer);
    trainer->units_ = std::make_unique<ParameterUnits>(*trainer->weights_, training.fsdp, gathered_once_a_step(plan),
        training.overlap.param_gather, std::move(chunks));
    const auto positions = context_positions(training.seq_len, mesh.at.cp, plan.layout.cp, training.cp_method);
    if (training.precision == Precision::fp8) {
        trainer->fp8_
            = std::make_unique<Fp8Products>(training, mesh[GroupKind::tp], mesh.for_numbers(GroupKind::dp_cp));
        const Weights& weights = *trainer->weights_;
        for (std::size_t i = 0; i < weights.leaves().size(); ++i)
            if (weights.largest(i).defined())
                trainer->fp8_->know(weights.leaves()[i], weights.largest(i));
    }
    trainer->block_settings_ = std::make_unique<BlockSettings>(block_settings(
        plan, mesh, positions, exact, trainer->weight_gradients_, trainer->fp8_.get(), &trainer->turns_));
    if (auto& experts = trainer->block_settings_->experts)
        experts->known = options.routing;
    if (training.offload == Offload::activations) {
        ActivationOffload::Stays stays;
        for (const at::Tensor& leaf : trainer->weights_->leaves())
            ActivationOffload::add(stays, leaf);
        trainer->offload_ = std::make_unique<ActivationOffload>(exact.device(), std::move(stays));
        trainer->block_settings_->offload = trainer->offload_.get();
    }
    trainer->chunks_
        = make_decoders(plan, mesh, *trainer->weights_, *trainer->units_, *trainer->block_settings_, positions);
    const bool by_micro_batch = reduced_each_micro_batch(plan);
    GradientSettings settings{training.overlap.grad_reduce, training.sequence_parallel, by_micro_batch,
        by_micro_batch && plan.layout.pp > 1 ? trainer->units_->gradient_lanes() : std::vector<int>(),
        type_of(training.grad_dtype, exact),
        [units = trainer->units_.get()](std::size_t bucket) { units->gradients_made(bucket); },
        [&later = trainer->weight_gradients_](
            const at::Tensor& weight) { return later.waits(weight) || later.sum_of(weight) != nullptr; }};
    if (training.optimizer_in_backward) {
        trainer->in_backward_.emplace();
        settings.final = [own = trainer.get()](std::size_t bucket) { own->update_in_backward(bucket); };
        settings.keep = options.keep_gradients;
    }
    trainer->gradients_ = std::make_unique<GradientBuckets>(*trainer->weights_, mesh, std::move(settings));
    trainer->add_up_in_products();
    std::optional<OnHost> states_on_host;
    if (training.offload == Offload::optimizer) {
        trainer->host_update_ = std::make_unique<OptimizerOffload>(*trainer->weights_);
        states_on_host.emplace();
    }
    trainer->optimizer_ = std::make_unique<Adam>(*trainer->weights_, plan.run, training.optimizer,
        training.optimizer_state_dtype == Precision::bf16 ? at::kBFloat16 : type_of(Precision::fp32, exact),
        kernels_of(training));
    states_on_host.reset();

    if (training.optimizer == Optimizer::muon) // bf16 is enough for it, says the post
        trainer->muon_ = std::make_unique<Muon>(*trainer->weights_, mesh, plan.run, plan.model.heads,
            trainer->optimizer_->first_moment(),
            type_of(training.precision == Precision::fp32 ? Precision::fp32 : Precision::bf16, exact));
    trainer->loss_scaler_ = std::make_unique<LossScaler>(training.precision == Precision::fp16, exact);
    FOURFOLD_CHECK(trainer->make_training_pass(training.micro_batches));
    trainer->record_graphs();
    return trainer;
}

namespace {
// Of a weight: whether the products of model/linear.h alone use it, and one of them in a pass.
bool is_of_one_product(const Shard& shard, const ModelShape& model, const at::Tensor& leaf)
{
    if (leaf.dim() != 2 || shard.parameter.expert >= 0)
        return false;
    switch (shard.parameter.role) {
    case Role::query:
    case Role::key:
    case Role::value:
    case Role::fused:
        return !model.latent;
    case Role::output:
    case Role::gate:
    case Role::up:
    case Role::down:
        return true;
    case Role::head:
        return model.predicted_ahead == 0;
    default:
        return false;
    }
}
} // namespace

// On a CPU; graphs of layers, which no CPU has, are recorded with gradients of their own.
void Trainer::add_up_in_products()
{
    if (!on_cpu(weights_->device()) || fp8_ != nullptr || wants_graphs(plan_))
        return;
    for (std::size_t shard = 0; shard < weights_->shards().size(); ++shard) {
        const at::Tensor& leaf = weights_->leaves()[shard];
        if (!is_of_one_product(weights_->shards()[shard], plan_.model, leaf))
            continue;
        const at::Tensor total = gradients_->sum_of(shard);
        if (total.defined() && total.scalar_type() == leaf.scalar_type())
            weight_gradients_.add_up(leaf, {total, [this, shard] { gradients_->count(shard); }});
    }
}

void Trainer::record_graphs()
{
    const auto recorder = [&]() -> std::unique_ptr<GraphRecorder> {
        if (options_.graphs)
            return options_.graphs();
        if (options_.rehearsal)
            return on_cpu(weights_->device()) ? nullptr : rehearsed_graphs();
        return options_.cuda ? gpu_graphs() : nullptr;
    };
    if (wants_graphs(plan_))
        without_graphs_
            = trainer::record_graphs(plan_, mesh_, *weights_, *gradients_, chunks_, stream_shape(), recorder);
}

int64_t Trainer::graph_replays() const
{
    int64_t sum = 0;
    for (const Decoder& chunk : chunks_)
        sum += chunk.replays();
    return sum;
}

std::vector<int64_t> Trainer::stream_shape() const
{
    const int64_t ranks = plan_.layout.cp * (plan_.training.sequence_parallel ? plan_.layout.tp : 1);
    return {plan_.training.seq_len / ranks, plan_.training.micro_batch, plan_.model.hidden};
}

Expected<void> Trainer::make_training_pass(int micro_batches)
{
    const Training& training = plan_.training;
    const bool full = micro_batches == training.micro_batches;
    std::vector<std::vector<Action>> lists = mesh_.schedule.actions;
    if (!full) { // of a ramp-up; what each link carries begins alike
        ScheduleShape shape = mesh_.schedule.shape;
        shape.micro_batches = micro_batches;
        FOURFOLD_TRY(lists, make_schedule(shape));
    }
    const auto leaf = weights_->leaves()[0].options().requires_grad(false);
    const auto executor = [&](const std::vector<std::vector<Action>>& actions, PassTurns* turns) {
        return std::make_unique<Executor>(
            actions, mesh_, weight_gradients_, stream_shape(), leaf, training.overlap.p2p, turns);
    };
    training_pass_ = executor(lists, passes_side_by_side(plan_) ? &turns_ : nullptr);
    if (full)
        evaluation_pass_ = executor(forwards_only(lists), nullptr);
    micro_batches_ = micro_batches;
    return {};
}

Expected<at::Tensor> Trainer::forward(const Action& action, const at::Tensor& input, const Reading& of, Sums& sums)
{
    const Decoder& model = *std::ranges::find(chunks_, action.chunk, [](const Decoder& d) { return d.chunk().index; });
    BatchReader::Batch batch;
    if (model.chunk().embeds || model.chunk().predicts || plan_.run.documents.mask) {
        const auto begin = std::chrono::steady_clock::now();
        FOURFOLD_TRY(batch, reader_->read(of.batch, action.micro_batch, of.following ? &*of.following : nullptr));
        sums.data_time_s += seconds_since(begin);
    }
    const at::Tensor stream = model.forward(model.chunk().embeds ? batch.tokens : input, batch.documents);
    if (!model.chunk().predicts)
        return stream;
    const bool all_count = batch.valid == batch.labels.numel();
    const Decoder::Loss loss = model.loss_sum(stream, {batch.labels, all_count, batch.ahead}, batch.documents);
    sums.loss.add_(loss.of_labels.detach());
    sums.valid += batch.valid;
    return loss.whole;
}

// Only the last pipeline rank has a loss, and its TP ranks have the same: one of them counts.
at::Tensor Trainer::add_up(const Sums& sums, const std::vector<at::Tensor>& more) const
{
    const bool counts = mesh_[GroupKind::tp].rank() == 0;
    const auto number = [&](double value) { return at::full({}, counts ? value : 0.0, sums.loss.options()); };
    std::vector<at::Tensor> figures{counts ? sums.loss : number(0), number(double(sums.valid))};
    figures.insert(figures.end(), more.begin(), more.end());
    const at::Tensor known = at::stack(figures);
    mesh_[GroupKind::world].all_reduce(known);
    host_reads();
    if (options_.rehearsal) // every token has a label, and nobody asks to stop
        return at::tensor({1.0, plan_.tokens_per_step(), 1.0, 0.0}, at::kDouble);
    return known.cpu();
}

namespace {
// The mean over no label is no number, and a run of such steps would train nothing.
Problem without_labels(const std::string& of)
{
    return {ProblemCode::bad_input, "no token of " + of + " has a label: each is padding or ends a document",
        "check run.documents.end and the tokens, or give documents of more than one token", "run.data"};
}
} // namespace

Expected<StepOutcome> Trainer::accumulate_gradients(int step, bool want_stop, StepTrace* trace)
{
    StepOutcome outcome;
    const auto options = tensor_options(options_);
    Sums sums{at::zeros({}, options.dtype(at::kDouble))};
    Reading samples{global_batch(plan_, step), {}};
    if (step + 1 < total_steps_)
        samples.following = global_batch(plan_, step + 1);
    const int micro_batches = samples.batch.micro_batches;
    const double tokens = double(step_batch(plan_.training, step).size) * plan_.training.seq_len;
    if (micro_batches != micro_batches_)
        FOURFOLD_CHECK(make_training_pass(micro_batches));
    gradients_->clear(micro_batches);
    if (in_backward_) {
        *in_backward_ = {at::zeros({}, sums.loss.options()), plan_.run.learning_rate(step, total_steps_)};
        optimizer_->begin_step();
    }
    StageWork work;
    work.forward = [&](const Action& action, const at::Tensor& input) { return forward(action, input, samples, sums); };
    // Each token counts alike, however the batch is cut. How many labels count is known only when all were read.
    const double loss_gradient = loss_scaler_->state().scale / tokens;
    work.loss_gradient = loss_scaler_->scale().to(options.dtype()).div(tokens);
    if (block_settings_->experts)
        block_settings_->experts->groups.loss_gradient = loss_gradient;
    work.perform = options_.perform;
    work.after_backward = [this] { units_->end_of_backward(); };
    units_->begin_pass();
    FOURFOLD_CHECK(training_pass_->run(work, trace));
    {
        const auto span = StepTrace::measure(trace, SpanKind::gradient_reduce);
        gradients_->finish();
        units_->end_of_pass();
        if (loss_scaler_->on())
            gradients_->scale(loss_scaler_->scale().reciprocal());
    }

    // One small all-reduce tells every rank the loss, the norm and whether to go on.
    const at::Tensor known = [&] {
        const auto span = StepTrace::measure(trace, SpanKind::other); // for all but the slowest: waiting for that one
        return add_up(sums,
            {in_backward_ ? in_backward_->squared_norm
                          : squared_norm_share(*weights_, gradients_->reduced(), mesh_, kernels_of(plan_.training)),
                at::full({}, want_stop ? 1.0 : 0.0, sums.loss.options())});
    }();
    const double valid = known[1].item<double>(), scale = tokens / valid;
    if (valid == 0)
        return without_labels("step " + std::to_string(step + 1));
    if (scale != 1 && in_backward_) // the plan's rules leave no such tokens
        return Problem{ProblemCode::bad_input,
            "tokens of step " + std::to_string(step + 1)
                + " have no label, which was not known when the optimizer updated in the backward pass",
            "set training.optimizer_in_backward to false", "training.optimizer_in_backward"};
    if (scale != 1)
        gradients_->scale(at::full({}, scale, options));
    outcome.data_time_s = sums.data_time_s;
    outcome.loss = known[0].item<double>() / valid;
    outcome.grad_norm = std::sqrt(known[2].item<double>()) * scale;
    outcome.stop = known[3].item<double>() > 0;
    outcome.overflow = loss_scaler_->on() && std::isfinite(outcome.loss) && !std::isfinite(outcome.grad_norm);
    FOURFOLD_CHECK(loss_scaler_->take(std::isfinite(outcome.loss) && std::isfinite(outcome.grad_norm)));
    return outcome;
}

void Trainer::update_in_backward(std::size_t bucket)
{
    add_squared_norm_share(in_backward_->squared_norm, *weights_, bucket, gradients_->reduced()[bucket], mesh_,
        kernels_of(plan_.training));
    optimizer_->update(bucket, gradients_->reduced(), in_backward_->learning_rate);
}

void Trainer::update(int step, StepOutcome& outcome, StepTrace* trace)
{
    outcome.applied = std::isfinite(outcome.loss) && std::isfinite(outcome.grad_norm);
    if (!outcome.applied)
        return;
    constexpr double kAvoidsDivisionByZero = 1e-6;
    const double limit = plan_.run.clip_norm;
    const double scale = limit > 0 ? std::min(1.0, limit / (outcome.grad_norm + kAvoidsDivisionByZero)) : 1.0;
    if (!in_backward_) {
        const auto span = StepTrace::measure(trace, SpanKind::optimizer);
        const double rate = plan_.run.learning_rate(step, total_steps_);
        if (host_update_)
            host_update_->step(*optimizer_, muon_.get(), gradients_->reduced(), rate, scale);
        else
            optimizer_->step(gradients_->reduced(), rate, scale);
        if (muon_ && !host_update_)
            muon_->step(gradients_->reduced(), rate); // which are scaled now
    }
    const auto span = StepTrace::measure(trace, SpanKind::parameter_gather);
    units_->publish();
}

Expected<std::optional<Trainer::Evaluation>> Trainer::evaluate()
{
    if (!held_out_)
        return std::optional<Evaluation>();
    const at::NoGradGuard no_graph;
    const Training& training = plan_.training;
    // No window twice, unless the data is smaller than one global batch.
    const int64_t batches
        = std::clamp<int64_t>(held_out_->windows() / training.global_batch, 1, std::max(1, plan_.run.eval.batches));
    Sums sums{at::zeros({}, tensor_options(options_).dtype(at::kDouble))};
    for (int64_t batch_index = 0; batch_index < batches; ++batch_index) {
        const Reading windows{{false, batch_index * training.global_batch, training.micro_batches}, {}};
        StageWork work;
        work.forward
            = [&](const Action& action, const at::Tensor& input) { return forward(action, input, windows, sums); };
        units_->begin_pass();
        FOURFOLD_CHECK(evaluation_pass_->run(work));
    }
    units_->end_of_pass();
    const at::Tensor known = add_up(sums, {});
    const double valid = known[1].item<double>();
    if (valid == 0)
        return without_labels("the held-out data");
    return std::optional(Evaluation{known[0].item<double>() / valid, int64_t(valid)});
}

Expected<std::vector<std::string>> Trainer::load()
{
    FOURFOLD_TRY(LoadedCheckpoint loaded, load_checkpoint(plan_, mesh_, *weights_, *optimizer_, *loss_scaler_));
    first_step_ = loaded.steps;
    loaded_from_ = loaded.folder;
    units_->publish();
    // A run that went on by itself when it had been cut off behind its last save has only the end before it.
    const bool at_its_end = first_step_ == total_steps_ && plan_.run.checkpoint.from_last_good;
    if (at_its_end)
        loaded.notes.push_back("the checkpoint has finished all " + std::to_string(first_step_)
            + " steps of the plan: nothing is left to train");
    else if (first_step_ >= total_steps_)
        return Problem{ProblemCode::bad_input,
            "the checkpoint has finished " + std::to_string(first_step_) + " steps, the plan asks for "
                + std::to_string(total_steps_),
            "set run.steps to more", "run.steps"};
    return std::move(loaded.notes);
}

std::optional<ExpertLoad> Trainer::take_expert_load() const
{
    if (!block_settings_->experts)
        return {};
    return take_load(*block_settings_->experts, plan_.model, mesh_);
}

Expected<std::optional<double>> Trainer::unigram_entropy() const
{
    if (!held_out_)
        return std::optional<double>();
    FOURFOLD_TRY(const double nats, trainer::unigram_entropy(*data_, *held_out_, plan_.model.vocab));
    return std::optional(nats);
}

} // namespace fourfold::trainer
