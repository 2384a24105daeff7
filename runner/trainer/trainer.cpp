// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/trainer.h"

#include "core/program/sharding_operations.h"
#include "runner/trainer/context_parallel/slice.h"
#include "runner/trainer/data/unigram.h"
#include "runner/trainer/model/shard.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
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
        .device(options.cuda ? at::kCUDA : at::kCPU);
}

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
} // namespace

Trainer::Trainer(const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options)
    : plan_(plan)
    , mesh_(mesh)
    , options_(options)
    , total_steps_(plan.run.total_steps(plan.tokens_per_step()))
{
}

Expected<std::unique_ptr<Trainer>> Trainer::create(const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options)
{
    std::unique_ptr<Trainer> trainer(new Trainer(plan, mesh, options));
    const Training& training = plan.training;
    FOURFOLD_TRY(
        trainer->data_, Sampler::open(plan.run.data, "run.data", plan.run.seed, training.seq_len, plan.model.vocab));
    if (!plan.run.eval.data.empty()) {
        FOURFOLD_TRY(trainer->held_out_,
            Sampler::open(plan.run.eval.data, "run.eval.data", plan.run.seed, training.seq_len, plan.model.vocab));
    }
    auto shards = shard_table(plan, mesh.at.pp, mesh.tp_rank());
    const bool values_too = fully_sharded(training);
    const Weights::Part part = training.sharding == Sharding::none
        ? Weights::Part{}
        : Weights::Part{mesh.shard.rank(), mesh.shard.size(), values_too};
    auto buckets = values_too ? plan_units(shards, training.fsdp.layers_per_unit, part.count)
                              : plan_buckets(shards, default_bucket_capacity(shards), part.count);
    const auto exact = tensor_options(options);
    const bool mixed = training.precision == Precision::bf16 && !options.fp64;
    trainer->weights_ = std::make_unique<Weights>(std::move(shards), std::move(buckets), plan.run.seed, exact,
        mixed ? at::kBFloat16 : c10::typeMetaToScalarType(exact.dtype()), part);
    const bool pipeline = plan.layout.pp > 1;
    trainer->units_ = std::make_unique<ParameterUnits>(*trainer->weights_, mesh, training.fsdp, /*keep=*/pipeline);
    const auto leaf = trainer->weights_->leaves()[0].options().requires_grad(false);
    const auto positions = context_positions(training.seq_len, mesh.at.cp, plan.layout.cp);
    trainer->block_settings_
        = std::make_unique<BlockSettings>(block_settings(plan, mesh, positions, exact, leaf.dtype().toScalarType()));
    trainer->chunks_
        = make_decoders(plan, mesh, *trainer->weights_, *trainer->units_, *trainer->block_settings_, positions);
    trainer->gradients_ = std::make_unique<GradientBuckets>(*trainer->weights_, mesh,
        GradientSettings{training.overlap.grad_reduce, training.sequence_parallel,
            training.sharding == Sharding::gradients || (values_too && !pipeline), training.micro_batches,
            [units = trainer->units_.get()](std::size_t bucket) { units->gradients_made(bucket); }});
    trainer->optimizer_ = std::make_unique<AdamW>(*trainer->weights_, plan.run);

    FOURFOLD_TRY(const auto schedule,
        make_schedule(training.schedule, plan.layout.pp, plan.layout.virtual_stages, training.micro_batches));
    const int64_t rows = int64_t(positions.size()) / (training.sequence_parallel ? plan.layout.tp : 1);
    const std::vector<int64_t> stream{rows, training.micro_batch, plan.model.hidden};
    const bool early = training.overlap.p2p;
    trainer->training_pass_ = std::make_unique<Executor>(schedule, mesh, stream, leaf, early);
    trainer->evaluation_pass_ = std::make_unique<Executor>(forwards_only(schedule), mesh, stream, leaf, early);
    return trainer;
}

// The global batch is dealt to the replicas in blocks: replica r has samples [r, r + 1) * global_batch / dp.
Expected<Trainer::Batch> Trainer::micro_batch(int index, const Fill& fill) const
{
    const Training& training = plan_.training;
    const int64_t s = training.seq_len, b = training.micro_batch;
    const int64_t first = (int64_t(mesh_.at.dp) * training.micro_batches + index) * b;
    const at::Tensor samples = at::empty({b, s + 1}, at::kLong);
    for (int64_t i = 0; i < b; ++i)
        FOURFOLD_CHECK(fill(first + i, samples.data_ptr<int64_t>() + i * (s + 1)));
    const at::Tensor by_position = samples.t().contiguous().to(tensor_options(options_).device());
    const auto own
        = [&](int64_t first) { return context_part(by_position.narrow(0, first, s), mesh_.at.cp, plan_.layout.cp); };
    return Batch{own(0), own(1)};
}

Expected<at::Tensor> Trainer::forward(
    const Action& action, const at::Tensor& input, const Fill& fill, const at::Tensor& loss_sum, double& data_time_s)
{
    const Decoder& model = *std::ranges::find(chunks_, action.chunk, [](const Decoder& d) { return d.chunk().index; });
    Batch batch;
    if (model.chunk().embeds || model.chunk().predicts) {
        const auto begin = std::chrono::steady_clock::now();
        FOURFOLD_TRY(batch, micro_batch(action.micro_batch, fill));
        data_time_s += seconds_since(begin);
    }
    const at::Tensor stream = model.forward(model.chunk().embeds ? batch.tokens : input);
    if (!model.chunk().predicts)
        return stream;
    const at::Tensor loss = model.loss_sum(stream, batch.labels);
    loss_sum.add_(loss.detach());
    return loss;
}

Expected<StepOutcome> Trainer::accumulate_gradients(int step, bool want_stop, StepTrace* trace)
{
    StepOutcome outcome;
    const auto options = tensor_options(options_);
    const at::Tensor loss_sum = at::zeros({}, options.dtype(at::kDouble));
    const Fill sample = [&](int64_t index, int64_t* tokens) { return data_->sample(step, index, tokens); };

    gradients_->clear();
    StageWork work;
    work.forward = [&](const Action& action, const at::Tensor& input) {
        return forward(action, input, sample, loss_sum, outcome.data_time_s);
    };
    // Each token counts alike, however the batch is cut.
    work.loss_gradient = at::full({}, 1 / plan_.tokens_per_step(), options);
    FOURFOLD_CHECK(training_pass_->run(work, trace));
    {
        const auto span = StepTrace::measure(trace, SpanKind::gradient_reduce);
        gradients_->finish();
        units_->end_of_pass();
    }

    // One small all-reduce tells every rank the loss, the norm and whether to go on. Only the last pipeline rank has a
    // loss, and its TP ranks have the same: one of them counts.
    const at::Tensor own_loss = mesh_.tp.rank() == 0 ? loss_sum : at::zeros_like(loss_sum);
    const at::Tensor figures = at::stack({own_loss, squared_norm_share(*weights_, gradients_->reduced(), mesh_),
        at::full({}, want_stop ? 1.0 : 0.0, loss_sum.options())});
    const at::Tensor known = [&] {
        const auto span = StepTrace::measure(trace, SpanKind::other); // for all but the slowest: waiting for that one
        mesh_.world.all_reduce(figures);
        return figures.cpu();
    }();
    outcome.loss = known[0].item<double>() / plan_.tokens_per_step();
    outcome.grad_norm = std::sqrt(known[1].item<double>());
    outcome.stop = known[2].item<double>() > 0;
    return outcome;
}

void Trainer::update(int step, StepOutcome& outcome, StepTrace* trace)
{
    outcome.applied = std::isfinite(outcome.loss) && std::isfinite(outcome.grad_norm);
    if (!outcome.applied)
        return;
    constexpr double kAvoidsDivisionByZero = 1e-6;
    const double limit = plan_.run.clip_norm;
    const double scale = limit > 0 ? std::min(1.0, limit / (outcome.grad_norm + kAvoidsDivisionByZero)) : 1.0;
    {
        const auto span = StepTrace::measure(trace, SpanKind::optimizer);
        optimizer_->step(gradients_->reduced(), plan_.run.learning_rate(step, total_steps_), scale);
    }
    const auto span = StepTrace::measure(trace, SpanKind::parameter_gather);
    weights_->publish(mesh_.shard);
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
    const at::Tensor loss_sum = at::zeros({}, tensor_options(options_).dtype(at::kDouble));
    double data_time_s = 0;
    for (int64_t batch_index = 0; batch_index < batches; ++batch_index) {
        const Fill window = [&](int64_t index, int64_t* tokens) {
            return held_out_->window(batch_index * training.global_batch + index, tokens);
        };
        StageWork work;
        work.forward = [&](const Action& action, const at::Tensor& input) {
            return forward(action, input, window, loss_sum, data_time_s);
        };
        FOURFOLD_CHECK(evaluation_pass_->run(work));
    }
    units_->end_of_pass();
    if (mesh_.tp.rank() != 0)
        loss_sum.zero_();
    mesh_.world.all_reduce(loss_sum);
    Evaluation evaluation;
    evaluation.tokens = batches * training.global_batch * training.seq_len;
    evaluation.loss = loss_sum.cpu().item<double>() / double(evaluation.tokens);
    return std::optional(evaluation);
}

Expected<SavedCheckpoint> Trainer::save(const std::filesystem::path& folder, int steps) const
{
    return save_checkpoint(folder, steps, plan_, mesh_, *weights_, *optimizer_);
}

Expected<void> Trainer::load()
{
    FOURFOLD_TRY(first_step_, load_checkpoint(plan_.run.checkpoint.load, plan_, *weights_, *optimizer_));
    weights_->publish(mesh_.shard);
    if (first_step_ >= total_steps_)
        return Problem{ProblemCode::bad_input,
            "the checkpoint has finished " + std::to_string(first_step_) + " steps, the plan asks for "
                + std::to_string(total_steps_),
            "set run.steps to more", "run.steps"};
    return {};
}

std::optional<double> Trainer::unigram_entropy() const
{
    if (!held_out_)
        return std::nullopt;
    return trainer::unigram_entropy(*data_, *held_out_, plan_.model.vocab);
}

} // namespace fourfold::trainer
