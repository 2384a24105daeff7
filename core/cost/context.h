// SPDX-License-Identifier: GPL-3.0-or-later
// What every price needs: the hardware, the fitted constants and how each group of ranks lies on the nodes.
#pragma once

#include "core/base/text.h"
#include "core/program/operation.h"

#include <array>
#include <initializer_list>
#include <string>

namespace fourfold {

struct CostContext {
    explicit CostContext(const ResolvedPlan& plan, bool with_formulas = false);

    // Takes over how the groups of another layout lie on the nodes; hardware and stack stay.
    void set_groups(const ResolvedPlan& plan);
    // The same where only the sharding differs.
    void set_shard_groups(const ResolvedPlan& plan);

    Cluster cluster;
    Constants constants;
    // Dense, of the plan's precision (of bf16 where that is of products alone), as far as the board's power limit
    // allows.
    double peak_flops = 0;
    double fp8_ratio = 1; // fp8 peak over bf16 peak, 1 where the GPU has no fp8
    // Of products in the plan's fp8 or nvfp4: their peak over bf16's, of the gain of plain fp8 products over bf16's
    // what they have, and the bytes of an operand's element.
    double narrow_ratio = 1, narrow_share = 1, narrow_bytes = 1;
    double memory_bytes_s = 0;
    double core_speedup = 1; // of CPU ranks with several cores, over one core, whose rates stand above
    double limit_flops = 0, limit_bytes_s = 0; // the data sheet's, for core/cost/roofline.h
    bool whole_recompute = false; // recomputation repeats whole layers
    double operand_bytes = 2; // of one element of a product's operands
    // Against an H100 SXM (data sheet): matrix FLOP/s of one multiprocessor, and FLOP per byte of memory traffic. 1
    // without multiprocessors.
    double multiprocessor_ratio = 1, balance_ratio = 1;
    double clock_share = 1; // of matrix products under sustained load: Gpu::product_power_w, else sustained_clock
    double exponential_ratio = 1; // a multiprocessor's exponentials over an H100's
    AttentionKernel attention = AttentionKernel::flash2;
    bool launch_blocking = false; // CUDA_LAUNCH_BLOCKING: every launch waits, nothing overlaps
    double pressure = 0; // slowdown of a layout that hardly fits, as a share of every pass
    int tp = 1, cp = 1; // for the traffic of context-parallel rings between nodes
    bool with_formulas = false; // formulas cost time: only for the operations that are shown

    [[nodiscard]] const GroupSpan& span(GroupKind group) const { return spans_[static_cast<std::size_t>(group)]; }
    void set_span(GroupKind group, GroupSpan span) { spans_[static_cast<std::size_t>(group)] = span; }

private:
    void set_narrow(const Training& training);
    // Of groups that are cut out of a dimension: by the ranks of the first such group.
    void set_ranks(std::initializer_list<GroupKind> groups, const ResolvedPlan& plan);
    // On a torus: where the group's ranks of one node lie.
    void set_place(GroupKind group, GroupSpan span, const std::vector<int>& ranks, const ResolvedPlan& plan);

    std::array<GroupSpan, kGroupKinds> spans_{};
};

// CPU ranks on this computer: the time of a rank's work over its time on one core of its own. Above 1 where ranks share
// cores, below where each has several. 1 for GPUs, and for other clusters, whose cores are unknown.
double core_share(const ResolvedPlan& plan, double thread_scaling, unsigned cores);

// Seconds of one execution. Empty without CostContext::with_formulas: the formula with its numbers, and which data and
// constants of the stack they are.
struct Price {
    double seconds = 0;
    std::string formula, source;
};

} // namespace fourfold
