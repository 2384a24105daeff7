// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/pipeline_parallel/collect_spans.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {
constexpr int64_t kFields = 5; // kind, micro-batch, chunk, start, end
}

Timeline collect_spans(const StepTrace& trace, const Mesh& mesh, bool cuda)
{
    const Coordinates& at = mesh.at;
    const bool speaks = at.tp == 0 && at.cp == 0 && at.dp == 0;
    const auto options = at::TensorOptions().dtype(at::kDouble).device(cuda ? at::kCUDA : at::kCPU);
    const auto own = int64_t(trace.spans().size());
    const at::Tensor longest = at::full({}, double(own), options);
    mesh[GroupKind::world].all_reduce(longest, Reduce::max);

    // Rows of ranks that do not speak, and rows past the end, stay zero: the sum is the table of all stages.
    const int pp = mesh.layout.pp;
    const auto rows = static_cast<int64_t>(longest.cpu().item<double>());
    const at::Tensor table = at::zeros({pp, rows, kFields}, at::kDouble);
    if (speaks) {
        auto* value = table.data_ptr<double>() + at.pp * rows * kFields;
        for (const Span& span : trace.spans()) {
            *value++ = double(int(span.kind)) + 1; // 0: no span
            *value++ = span.micro_batch;
            *value++ = span.chunk;
            *value++ = span.start_s;
            *value++ = span.end_s;
        }
    }
    const at::Tensor all = table.to(options);
    mesh[GroupKind::world].all_reduce(all);

    const at::Tensor known = all.cpu();
    const auto* value = known.data_ptr<double>();
    Timeline timeline;
    timeline.stages = pp;
    for (int stage = 0; stage < pp; ++stage)
        for (int64_t row = 0; row < rows; ++row, value += kFields) {
            if (value[0] < 1)
                continue;
            const auto kind = static_cast<SpanKind>(static_cast<int>(value[0]) - 1);
            timeline.spans.push_back(
                {stage, kind, static_cast<int>(value[1]), static_cast<int>(value[2]), value[3], value[4]});
            timeline.length_s = std::max(timeline.length_s, value[4]);
        }
    std::ranges::stable_sort(timeline.spans,
        [](const Span& a, const Span& b) { return a.stage != b.stage ? a.stage < b.stage : a.start_s < b.start_s; });
    return timeline;
}

} // namespace fourfold::trainer
