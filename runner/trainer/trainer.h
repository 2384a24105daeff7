// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the trainer put together: one rank's model, data, gradients and optimizer, step by step.
#pragma once

#include "core/layout/batch_ramp.h"
#include "core/plan/plan.h"
#include "runner/trainer/checkpoint/checkpoint.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/data/batch_reader.h"
#include "runner/trainer/data_parallel/gradient_buckets.h"
#include "runner/trainer/data_parallel/parameter_units.h"
#include "runner/trainer/model/decoder.h"
#include "runner/trainer/offload/optimizer_offload.h"
#include "runner/trainer/optim/adam.h"
#include "runner/trainer/optim/loss_scaler.h"
#include "runner/trainer/optim/muon.h"
#include "runner/trainer/pipeline_parallel/executor.h"

#include <chrono>
#include <memory>
#include <optional>

namespace fourfold::trainer {

struct TrainerOptions {
    bool cuda = false; // tensors on the current GPU
    bool fp64 = false; // weights and arithmetic in fp64, for comparisons
    int64_t padding = -1; // see Sampler::open
    int replicas = 1; // this rank takes the samples that so many replicas would have, for comparisons
    bool rehearsal = false; // tensors without values: shapes, memory and messages of a step on a GPU
    KnownRouting routing{}; // its record, if any, must outlive the trainer
    bool keep_gradients = false; // of an optimizer in the backward pass, for comparisons
    decltype(StageWork::perform) perform = {}; // of the training steps
    std::function<std::unique_ptr<GraphRecorder>()> graphs = {}; // a test's, in the place of the device's
};

// What a step did; every field is the same on all ranks.
struct StepOutcome {
    double loss = 0; // mean over the global batch's tokens that have a label, nats
    double grad_norm = 0; // global, before clipping
    bool applied = false; // false: loss or gradient was not finite, the weights did not change
    bool overflow = false; // then: the gradients alone, beyond fp16; the loss scale is smaller from here on
    bool stop = false; // some rank was asked to stop
    double data_time_s = 0; // this rank's wait for data
};

class Trainer {
public:
    // Opens the data, makes and initialises the weights. `mesh` must outlive the trainer.
    static Expected<std::unique_ptr<Trainer>> create(
        const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options);

    // Forward and backward passes of all micro-batches, gradients summed over the mesh. Collective. Step counts from 0.
    // A `trace` that is not null gets the spans of what this rank does. With an optimizer in the backward pass it has
    // updated when it returns.
    Expected<StepOutcome> accumulate_gradients(int step, bool want_stop = false, StepTrace* trace = nullptr);
    // Clips and applies the gradients of `outcome`, unless they are not finite.
    void update(int step, StepOutcome& outcome, StepTrace* trace = nullptr);

    // Mean loss over the held-out data; empty when the plan has none. Collective.
    struct Evaluation {
        double loss = 0;
        int64_t tokens = 0; // that have a label
    };
    Expected<std::optional<Evaluation>> evaluate();

    // What a checkpoint is made of (checkpoint/saver.h). Call settle() first: published weights may be on their way.
    void settle() const { units_->end_of_pass(); }
    [[nodiscard]] const Adam& optimizer() const { return *optimizer_; }
    // Continues from run.checkpoint.load, which must not be empty. What the user should know of it. Collective.
    Expected<std::vector<std::string>> load();
    [[nodiscard]] int first_step() const { return first_step_; } // 0 without a checkpoint
    [[nodiscard]] const std::filesystem::path& loaded_from() const { return loaded_from_; } // empty without one

    // Why there are no graphs of layers though the plan asks for them; else empty.
    [[nodiscard]] const std::string& without_graphs() const { return without_graphs_; }
    [[nodiscard]] int64_t graph_replays() const; // since construction

    // Since the last call; empty without experts. Collective.
    [[nodiscard]] std::optional<ExpertLoad> take_expert_load() const;
    // Of the held-out data under the training data's unigram distribution, nats; empty without held-out data.
    [[nodiscard]] Expected<std::optional<double>> unigram_entropy() const;
    [[nodiscard]] int total_steps() const { return total_steps_; }
    [[nodiscard]] const Weights& weights() const { return *weights_; }
    [[nodiscard]] const GradientBuckets& gradients() const { return *gradients_; }
    [[nodiscard]] const ParameterUnits& units() const { return *units_; }
    [[nodiscard]] const LossScaler& loss_scaler() const { return *loss_scaler_; }

private:
    Trainer(const ResolvedPlan& plan, const Mesh& mesh, TrainerOptions options);

    // What the micro-batches of this rank add up to.
    struct Sums {
        at::Tensor loss; // fp64, nats, of the last chunk
        int64_t valid = 0; // labels that the loss is of
        double data_time_s = 0;
    };
    struct Reading {
        GlobalBatch batch;
        std::optional<GlobalBatch> following; // of the step after
    };
    // The forward pass of one chunk over a micro-batch.
    Expected<at::Tensor> forward(const Action& action, const at::Tensor& input, const Reading& of, Sums& sums);
    // Of all ranks, each number once: loss, valid labels, and `more`, in fp64 on the CPU. Collective.
    [[nodiscard]] at::Tensor add_up(const Sums& sums, const std::vector<at::Tensor>& more) const;
    // Optimizer in backward: the gradient of a bucket is final.
    void update_in_backward(std::size_t bucket);
    void record_graphs();
    void add_up_in_products();
    [[nodiscard]] std::vector<int64_t> stream_shape() const; // of a micro-batch, between layers
    // Passes of so many micro-batches are run from here on.
    Expected<void> make_training_pass(int micro_batches);

    ResolvedPlan plan_;
    const Mesh& mesh_;
    TrainerOptions options_;
    int total_steps_ = 0, first_step_ = 0;
    std::filesystem::path loaded_from_;
    std::optional<Sampler> data_, held_out_;
    std::unique_ptr<BatchReader> reader_;
    std::unique_ptr<Weights> weights_;
    std::unique_ptr<ParameterUnits> units_;
    WeightGradients weight_gradients_;
    std::unique_ptr<Fp8Products> fp8_; // null: of another precision
    PassTurns turns_; // of passes that run beside each other
    std::unique_ptr<ActivationOffload> offload_; // null: activations stay
    std::unique_ptr<BlockSettings> block_settings_;
    std::vector<Decoder> chunks_; // of the model, that this pipeline rank runs
    std::unique_ptr<GradientBuckets> gradients_;
    std::string without_graphs_;
    std::unique_ptr<Adam> optimizer_;
    std::unique_ptr<Muon> muon_; // null: another optimizer
    std::unique_ptr<OptimizerOffload> host_update_; // null: the device updates
    // Optimizer in backward, of the step that runs.
    struct InBackward {
        at::Tensor squared_norm; // what this rank adds to it, as squared_norm_share()
        double learning_rate = 0;
    };
    std::optional<InBackward> in_backward_; // none: the update comes after the backward pass
    std::unique_ptr<LossScaler> loss_scaler_;
    std::unique_ptr<Executor> training_pass_, evaluation_pass_;
    int micro_batches_ = 0; // of training_pass_
};

} // namespace fourfold::trainer
