// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/pipeline_parallel/executor.h"

#include "runner/trainer/autograd/gradients_of.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <optional>

namespace fourfold::trainer {

namespace {
int place_in(const Communicator& group, int global_rank)
{
    return int(std::ranges::find(group.ranks(), global_rank) - group.ranks().begin());
}
} // namespace

Executor::Executor(const std::vector<std::vector<Action>>& lists, const Mesh& mesh, WeightGradients& weight_gradients,
    std::vector<int64_t> shape, const at::TensorOptions& options, bool early, PassTurns* turns)
    : mesh_(mesh)
    , weight_gradients_(weight_gradients)
    , turns_(turns)
    , actions_(plan_messages(lists, mesh.at.pp))
    , known_at_(known_to_have_arrived(lists, mesh.at.pp))
    , shape_(std::move(shape))
    , options_(options)
    , early_(early)
    , in_pipeline_(lists.size() > 1)
    , has_backward_(
          std::ranges::any_of(actions_, [](const PlannedAction& planned) { return !is_forward(planned.action); }))
{
    if (turns_ != nullptr) {
        const std::vector<bool> beside = pair_passes(lists)[std::size_t(mesh.at.pp)];
        for (std::size_t i = 0; i < actions_.size(); ++i)
            actions_[i].beside_next = beside[i];
    }
    for (std::size_t i = 0; i < actions_.size(); ++i)
        if (actions_[i].receive)
            arrivals_[actions_[i].receive->link].push_back(i);
    for (auto& [link, receivers] : arrivals_)
        std::ranges::sort(receivers, {}, [&](std::size_t i) { return actions_[i].receive->peer_action; });
}

void Executor::ask_for(std::size_t action)
{
    if (action >= actions_.size() || !actions_[action].receive || incoming_.contains(action))
        return;
    const PipelineLink& link = actions_[action].receive->link;
    const Communicator& wire = mesh_.links.at(link);
    const int peer = place_in(wire, mesh_.stages.at(std::size_t(link.from)));
    for (std::size_t& next = asked_[link]; !incoming_.contains(action); ++next) {
        const std::size_t receiver = arrivals_.at(link).at(next);
        Incoming incoming{at::empty(shape_, options_), {}};
        incoming.handle = wire.start_receive(incoming.tensor, peer, actions_[receiver].receive->tag);
        incoming_.emplace(receiver, std::move(incoming));
    }
}

at::Tensor Executor::input_of(std::size_t action, StepTrace* trace)
{
    const PlannedAction& planned = actions_[action];
    if (!planned.receive) {
        const auto found
            = local_.find({is_forward(planned.action), {planned.action.chunk, planned.action.micro_batch}});
        return found == local_.end() ? at::Tensor() : local_.extract(found).mapped();
    }
    ask_for(action);
    if (early_)
        ask_for(action + 1);
    Incoming incoming = std::move(incoming_.extract(action).mapped());
    {
        const auto span = StepTrace::measure(trace, SpanKind::send_receive, planned.action);
        incoming.handle.wait();
    }
    // What this message shows to have arrived: waiting for it takes no time and frees its tensor.
    std::erase_if(sent_, [&](Sent& sent) {
        const bool arrived = sent.known_at <= action;
        if (arrived)
            sent.handle.wait();
        return arrived;
    });
    return incoming.tensor;
}

void Executor::pass_on(std::size_t index, const at::Tensor& result)
{
    const PlannedAction& planned = actions_[index];
    const Action& action = planned.action;
    if (planned.send) {
        const at::Tensor message = result.detach().contiguous();
        const Communicator& wire = mesh_.links.at(planned.send->link);
        const int peer = place_in(wire, mesh_.stages.at(std::size_t(planned.send->peer)));
        sent_.push_back({known_at_[index], wire.start_send(message, peer, planned.send->tag)});
        return;
    }
    local_[{is_forward(action), {action.chunk + (is_forward(action) ? 1 : -1), action.micro_batch}}] = result.detach();
}

Expected<at::Tensor> Executor::act(std::size_t index, const StageWork& work, const Perform& perform, StepTrace* trace)
{
    const PlannedAction& planned = actions_[index];
    const Action& action = planned.action;
    const Key key{action.chunk, action.micro_batch};
    at::Tensor arrived = input_of(index, trace);
    if (early_)
        ask_for(index + 1);
    const auto span = StepTrace::measure(trace, span_kind(action.kind), action);
    if (is_forward(action)) {
        Held held{arrived, {}};
        if (arrived.defined() && has_backward_)
            held.input.requires_grad_(true);
        FOURFOLD_TRY(held.output, perform(action, [&] { return work.forward(action, held.input); }));
        const at::Tensor output = held.output;
        if (output.dim() > 0) {
            pass_on(index, output);
            held.output = root_of(output);
        }
        if (has_backward_)
            held_.emplace(key, std::move(held));
        return output;
    }
    if (action.kind == ActionKind::weight_gradient)
        return perform(action, [&]() -> Expected<at::Tensor> {
            weight_gradients_.run(key);
            return at::Tensor();
        });
    Held held = std::move(held_.extract(key).mapped());
    const auto backward = [&]() -> Expected<at::Tensor> {
        if (action.kind == ActionKind::input_gradient && in_pipeline_)
            weight_gradients_.begin_postponing(key);
        held.output.backward(arrived.defined() ? arrived : work.loss_gradient);
        weight_gradients_.catch_up();
        weight_gradients_.end_postponing();
        held.output.reset(); // and the graph, with what only it still holds
        return held.input.defined() ? held.input.grad() : at::Tensor();
    };
    FOURFOLD_TRY(at::Tensor gradient, perform(action, backward));
    if (work.after_backward)
        work.after_backward();
    if (held.input.defined())
        pass_on(index, gradient);
    return gradient;
}

Expected<at::Tensor> Executor::act_beside_next(std::size_t index, const StageWork& work, StepTrace* trace)
{
    const Perform computed = [](const Action&, const Compute& compute) { return compute(); };
    const Action* const actions[] = {&actions_[index].action, &actions_[index + 1].action};
    Expected<at::Tensor> forward = at::Tensor(), backward = at::Tensor();
    std::optional<StepTrace::Measurement> span; // of who has the turn
    turns_->run([&] { forward = act(index, work, computed, nullptr); },
        [&] {
            const c10::OptionalDeviceGuard device(options_.device_opt());
            backward = act(index + 1, work, computed, nullptr);
        },
        [&](int pass, bool runs) {
            const Action& action = *actions[pass];
            span.reset();
            if (runs && trace != nullptr)
                span.emplace(trace, Span{0, span_kind(action.kind), action.micro_batch, action.chunk, 0, 0});
        });
    FOURFOLD_CHECK(backward);
    return forward;
}

Expected<void> Executor::run(const StageWork& work, StepTrace* trace)
{
    const Perform perform = [&](const Action& action, const Compute& compute) {
        return work.perform ? work.perform(action, compute) : compute();
    };
    for (std::size_t i = 0; i < actions_.size(); ++i) {
        if (actions_[i].beside_next) {
            FOURFOLD_CHECK(perform(actions_[i].action, [&] { return act_beside_next(i, work, trace); }));
            ++i;
        } else {
            FOURFOLD_CHECK(act(i, work, perform, trace));
        }
    }
    for (Sent& sent : sent_)
        sent.handle.wait();
    sent_.clear();
    asked_.clear();
    return {};
}

} // namespace fourfold::trainer
