// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/record_graphs.h"

#include "core/plan/graphed_layers.h"

#include <c10/util/Exception.h>

namespace fourfold::trainer {

std::string record_graphs(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights,
    const GradientBuckets& gradients, std::vector<Decoder>& chunks, const std::vector<int64_t>& stream,
    const std::function<std::unique_ptr<GraphRecorder>()>& device)
{
    if (std::string why = why_no_graphs(plan); !why.empty())
        return why;
    const auto sets
        = most_in_flight(mesh.schedule.actions[std::size_t(mesh.at.pp)], plan.layout.pp * plan.layout.virtual_stages);
    const at::TensorOptions options = weights.leaves()[0].options().requires_grad(false);
    try {
        const std::unique_ptr<GraphRecorder> recorder = device();
        if (!recorder)
            return "the ranks run on CPUs";
        for (Decoder& chunk : chunks)
            chunk.record_graphs(
                plan, *recorder, weights, gradients, stream, options, sets[std::size_t(chunk.chunk().index)]);
    } catch (const c10::Error& error) {
        for (Decoder& chunk : chunks)
            chunk.forget_graphs();
        const std::string said = error.what_without_backtrace();
        return "the device could not record the layers: " + said.substr(0, said.find('\n'));
    }
    return {};
}

} // namespace fourfold::trainer
