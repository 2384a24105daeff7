// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/scan_operations.h"

#include "core/program/plain_forms.h"

#include <algorithm>

namespace fourfold {

namespace {
// Forward once, backward two gradients for each product, and the repeated forwards.
void add_scan_product(std::vector<Operation>& list, const char* name, const char* note, const Gemm& product,
    double layers, double recompute)
{
    Operation op{.name = name, .repeat = layers, .note = note, .work = product};
    op.phase = Phase::forward;
    list.push_back(op);
    op.phase = Phase::backward;
    op.repeat = 2 * layers;
    list.push_back(op);
    if (recompute <= 0)
        return;
    op.phase = Phase::recompute;
    op.part = Part::recompute;
    op.repeat = layers * recompute;
    list.push_back(op);
}

// Mamba-2's chunk-wise form (arXiv:2405.21060, section 6; for the delta rule arXiv:2412.06464, section 3.3): within a
// chunk scores and their sum of values as in attention, and a state that passes from chunk to chunk. The delta rule
// solves for what each token writes: once more a chunk's scores, and their product with keys and values.
void add_chunks(
    std::vector<Operation>& list, const RankShape& rank, const ScanRow& scan, double layers, double recompute)
{
    const double chunk = std::min(double(scan.chunk), rank.seq_len / rank.cp);
    const double batch = rank.tokens / chunk * scan.heads / rank.tp;
    const auto state = double(scan.state), width = double(scan.head_dim);
    const auto add = [&](const char* name, const char* note, double m, double n, double k) {
        add_scan_product(list, name, note, {.m = m, .n = n, .k = k, .batch = batch}, layers, recompute);
    };
    add("scan, scores of a chunk", "every pair of tokens of a chunk", chunk, chunk, state);
    add("scan, values of a chunk", "scores times values", chunk, width, chunk);
    add("scan, state written", "keys times values into the state of a head", state, width, chunk);
    add("scan, state read", "queries times the state of the chunks before", chunk, width, state);
    if (!scan.corrects)
        return;
    add("scan, corrections of a chunk", "what the tokens before have written already", chunk, chunk, state);
    add("scan, corrected keys and values", "the solved triangle times keys and values", chunk, state + width, chunk);
}
} // namespace

void add_scan_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    const ScanRow& scan, double layers, double recompute)
{
    if (layers <= 0)
        return;
    if (scan.state > 0 && scan.products)
        add_chunks(list, rank, scan, layers, recompute);
    // Inputs and output once, the convolution's channels in and out. A fused kernel keeps states on chip
    // (arXiv:2312.00752, section 3.3.2).
    const double elements = double(scan.inputs + scan.output + 2 * scan.convolved) / rank.tp;
    const Constant efficiency = elementwise_rate(plan, rank);
    const double bytes = rank.tokens * elements * rank.element_bytes;
    const auto add = [&](Phase phase, double passes, double share) {
        list.push_back({.name = "scan, convolution and gates",
            .phase = phase,
            .part = phase == Phase::recompute ? Part::recompute : Part::compute,
            .repeat = layers * share,
            .note = "inputs, output and the channels of the convolution, once through memory",
            .work = Elementwise{.bytes = passes * bytes, .efficiency = efficiency}});
    };
    add(Phase::forward, 1, 1);
    add(Phase::backward, 2, 1);
    if (recompute > 0)
        add(Phase::recompute, 1, recompute);
}

} // namespace fourfold
