// SPDX-License-Identifier: GPL-3.0-or-later
// Of each kind of operation its price (seconds of one execution and the formula with its numbers), what it takes up of
// the hardware at full rates, and what waits for it. One file a kind; the tables at the end have a line for each, and a
// kind without its lines does not compile.
#pragma once

#include "core/cost/roofline.h"
#include "core/program/operation.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fourfold {

// What a stage does once a step, in this order: it reduces its gradients when its last backward ends, each of the
// others begins when every stage has ended the one before.
enum class StepWork : std::uint8_t { reduce, optimizer, gather, other };
inline constexpr std::size_t kStepWorks = static_cast<std::size_t>(StepWork::other) + 1;

// Share of the multiprocessors' time that a product of m x n results, `batch` times, can use: best of the usual tiles,
// each losing what its last row, column and wave leave empty. 1 without multiprocessors (CPU, TPU).
double tile_and_wave_utilisation(double m, double n, double batch, int multiprocessors);

// max(2 m n k / (peak * efficiency * tiles * k / (k + k_half)), bytes / memory bandwidth).
Price price_gemm(const Gemm& product, const CostContext& context);
Usage usage_of_gemm(const Gemm& product, const CostContext& context);
// Fused: FLOPs over peak * efficiency; in memory: batched products and passes over the score matrix, with the head-size
// rules that the BLOOM team measured on A100 (head_dim not divisible by 8; head_dim 128).
Price price_attention(const Attention& attention, Phase phase, const CostContext& context);
Usage usage_of_attention(const Attention& attention, Phase phase, const CostContext& context);
Price price_elementwise(const Elementwise& pass, const CostContext& context);
// alpha log2 p + bytes (p - 1) / p / bandwidth, on two levels (node, network) and a third where racks are described. An
// all-reduce goes round twice, as ring or as tree: the cheaper one, as NCCL chooses.
Price price_collective(const Collective& collective, const CostContext& context);
Usage usage_of_collective(const Collective& collective, const CostContext& context);
StepWork step_work_of_collective(const Collective& collective);
const char* collective_word(CollectiveKind kind); // "reduce-scatter"
// All-to-all. `alpha`: its start-up. An exchange of tokens between experts has its routing; see expert_send_once.
Price price_exchange(const Collective& exchange, const GroupSpan& span, double alpha, const CostContext& context);
Price price_send_receive(const PointToPoint& transfer, const CostContext& context);
Usage usage_of_send_receive(const PointToPoint& transfer, const CostContext& context);
Price price_optimizer(const OptimizerUpdate& update, const CostContext& context);
Usage usage_of_optimizer(const OptimizerUpdate& update, const CostContext& context);
// HostRule::fixed and floor: seconds. HostRule::share: a ratio of the pass.
Price price_host(const HostCost& cost, const CostContext& context);

// Where a price comes from, for Price::source: "`data`; stack constants a, b".
std::string price_source(std::string_view data, std::initializer_list<Constant> constants);

// By kind, with Operation::scale applied.
Price price(const Operation& operation, const CostContext& context);

// Bytes/s that a collective of this span moves per rank: inside the node, or out of it through the node's NICs.
double collective_bandwidth(const GroupSpan& span, const CostContext& context);

struct PriceOfWork {
    Phase phase;
    const CostContext& context;
    Price operator()(const Gemm& work) const { return price_gemm(work, context); }
    Price operator()(const Attention& work) const { return price_attention(work, phase, context); }
    Price operator()(const Elementwise& work) const { return price_elementwise(work, context); }
    Price operator()(const Collective& work) const { return price_collective(work, context); }
    Price operator()(const PointToPoint& work) const { return price_send_receive(work, context); }
    Price operator()(const OptimizerUpdate& work) const { return price_optimizer(work, context); }
    Price operator()(const HostCost& work) const { return price_host(work, context); }
};

// Passes that other software fuses into their neighbours, and the host, take up nothing that must be.
struct UsageOfWork {
    Phase phase;
    const CostContext& context;
    Usage operator()(const Gemm& work) const { return usage_of_gemm(work, context); }
    Usage operator()(const Attention& work) const { return usage_of_attention(work, phase, context); }
    Usage operator()(const Elementwise&) const { return {}; }
    Usage operator()(const Collective& work) const { return usage_of_collective(work, context); }
    Usage operator()(const PointToPoint& work) const { return usage_of_send_receive(work, context); }
    Usage operator()(const OptimizerUpdate& work) const { return usage_of_optimizer(work, context); }
    Usage operator()(const HostCost&) const { return {}; }
};

struct WhatWaits {
    StepWork operator()(const Gemm&) const { return StepWork::other; }
    StepWork operator()(const Attention&) const { return StepWork::other; }
    StepWork operator()(const Elementwise&) const { return StepWork::other; }
    StepWork operator()(const Collective& work) const { return step_work_of_collective(work); }
    StepWork operator()(const PointToPoint&) const { return StepWork::other; }
    StepWork operator()(const OptimizerUpdate&) const { return StepWork::optimizer; }
    StepWork operator()(const HostCost&) const { return StepWork::other; }
};

} // namespace fourfold
