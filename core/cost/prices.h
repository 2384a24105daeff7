// SPDX-License-Identifier: GPL-3.0-or-later
// The price of each kind of operation: seconds of one execution and the formula with its numbers. One file a kind.
#pragma once

#include "core/cost/context.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace fourfold {

// Share of the multiprocessors' time that a product of m x n results, `batch` times, can use: best of the usual tiles,
// each losing what its last row, column and wave leave empty. 1 without multiprocessors (CPU, TPU).
double tile_and_wave_utilisation(double m, double n, double batch, int multiprocessors);

// max(2 m n k / (peak * efficiency * tiles * k / (k + k_half)), bytes / memory bandwidth).
Price price_gemm(const Gemm& product, const CostContext& context);
// Fused: FLOPs over peak * efficiency; in memory: batched products and passes over the score matrix, with the head-size
// rules that the BLOOM team measured on A100 (head_dim not divisible by 8; head_dim 128).
Price price_attention(const Attention& attention, Phase phase, const CostContext& context);
Price price_elementwise(const Elementwise& pass, const CostContext& context);
// alpha log2 p + bytes (p - 1) / p / bandwidth, on two levels (node, network) and a third where racks are described. An
// all-reduce goes round twice, as ring or as tree: the cheaper one, as NCCL chooses.
Price price_collective(const Collective& collective, const CostContext& context);
// All-to-all. `alpha`: its start-up. An exchange of tokens between experts has its routing; see expert_send_once.
Price price_exchange(const Collective& exchange, const GroupSpan& span, double alpha, const CostContext& context);
Price price_send_receive(const PointToPoint& transfer, const CostContext& context);
Price price_optimizer(const OptimizerUpdate& update, const CostContext& context);
// HostRule::fixed and floor: seconds. HostRule::share: a ratio of the pass.
Price price_host(const HostCost& cost, const CostContext& context);

// Where a price comes from, for Price::source: "`data`; stack constants a, b".
std::string price_source(std::string_view data, std::initializer_list<Constant> constants);

// By kind, with Operation::scale applied.
Price price(const Operation& operation, const CostContext& context);

// Bytes/s that a collective of this span moves per rank: inside the node, or out of it through the node's NICs.
double collective_bandwidth(const GroupSpan& span, const CostContext& context);

} // namespace fourfold
