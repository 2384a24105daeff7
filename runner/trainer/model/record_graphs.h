// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/trainer/model/decoder.h"

#include <functional>
#include <string>

namespace fourfold::trainer {

// Records graphs of the layers of this rank's chunks that can have them, in as many sets as micro-batches of a chunk
// are under way at once. `stream`: of a micro-batch, between layers. `device`: makes the recorder; null where ranks
// have no such device. Returns why there are none: then every layer is computed as without them. Preconditions: the
// plan asks for graphs, and no step has begun.
std::string record_graphs(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights,
    const GradientBuckets& gradients, std::vector<Decoder>& chunks, const std::vector<int64_t>& stream,
    const std::function<std::unique_ptr<GraphRecorder>()>& device);

} // namespace fourfold::trainer
