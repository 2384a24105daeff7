// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the action lists of core/schedule on a pipeline rank: which schedule it is does not show here.
#pragma once

#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/metrics/step_trace.h"
#include "runner/trainer/pipeline_parallel/message_plan.h"
#include "runner/trainer/pipeline_parallel/pass_turns.h"
#include "runner/trainer/pipeline_parallel/weight_gradients.h"

#include <functional>
#include <map>

namespace fourfold::trainer {

// Computes an action: of a forward pass the output, of a backward pass the gradient of the chunk's input (undefined for
// the first chunk).
using Compute = std::function<Expected<at::Tensor>()>;

// What this rank computes.
struct StageWork {
    // The chunk's output for a micro-batch: the residual stream, of the last chunk the sum of the losses (a scalar).
    // `input`: the residual stream of the chunk before; undefined for the first chunk.
    std::function<Expected<at::Tensor>(const Action&, const at::Tensor& input)> forward;
    // Gradient of the last chunk's output.
    at::Tensor loss_gradient;
    // Stands between the executor and every action, or both of a pair, whose first it is told; left out, the action is
    // computed.
    std::function<Expected<at::Tensor>(const Action&, const Compute&)> perform = {};
    // After every backward pass through a chunk, weight gradients that come later apart.
    std::function<void()> after_backward = {};
};

class Executor {
public:
    // `lists`: one list a pipeline rank. Messages are tensors of `shape` and `options`. `early`: ask for the next
    // action's message before this action computes (plan: overlap.p2p). `weight_gradients`: what the chunks' operations
    // offer their weight gradients to. `turns`: of passes that run beside each other (pair_passes()); null: none does.
    // These and `mesh` must outlive the executor.
    Executor(const std::vector<std::vector<Action>>& lists, const Mesh& mesh, WeightGradients& weight_gradients,
        std::vector<int64_t> shape, const at::TensorOptions& options, bool early, PassTurns* turns = nullptr);

    // All actions of the list, in order; gradients are added to the weights. Collective over the pipeline. Where
    // `trace` is not null, it gets a span for each action and each wait for a message.
    Expected<void> run(const StageWork& work, StepTrace* trace = nullptr);

private:
    struct Held { // a forward whose backward is yet to come
        at::Tensor input;
        at::Tensor output; // the loss; else the root of its graph alone, without its memory
    };
    struct Incoming {
        at::Tensor tensor;
        Handle handle;
    };
    struct Sent {
        std::size_t known_at = 0; // the action at which it is known to have arrived
        Handle handle;
    };
    using Key = WeightGradients::Key;

    // For the messages of the action's link up to its own, in the order in which the peer sends them.
    void ask_for(std::size_t action);
    at::Tensor input_of(std::size_t action, StepTrace* trace);
    void pass_on(std::size_t action, const at::Tensor& result);
    // One action, with what it waits for and what it sends; its result. `perform` as in StageWork.
    using Perform = std::function<Expected<at::Tensor>(const Action&, const Compute&)>;
    Expected<at::Tensor> act(std::size_t action, const StageWork& work, const Perform& perform, StepTrace* trace);
    Expected<at::Tensor> act_beside_next(std::size_t action, const StageWork& work, StepTrace* trace);

    const Mesh& mesh_;
    WeightGradients& weight_gradients_;
    PassTurns* turns_;
    std::vector<PlannedAction> actions_;
    std::vector<std::size_t> known_at_; // beside them: see known_to_have_arrived()
    std::vector<int64_t> shape_;
    at::TensorOptions options_;
    bool early_ = true;
    bool in_pipeline_ = false; // one stage alone has nobody who waits: its weight gradients do not
    bool has_backward_ = false;
    std::map<Key, Held> held_;
    std::map<PipelineLink, std::vector<std::size_t>> arrivals_; // actions that receive, in the order of sending
    std::map<PipelineLink, std::size_t> asked_; // how many of them were asked for
    std::map<std::size_t, Incoming> incoming_; // by action
    std::map<std::pair<bool, Key>, at::Tensor> local_; // activations and gradients of a neighbour chunk on this rank
    std::vector<Sent> sent_; // not yet known to have arrived: their tensors live
};

} // namespace fourfold::trainer
