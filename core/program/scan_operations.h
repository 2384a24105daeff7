// SPDX-License-Identifier: GPL-3.0-or-later
// What a recurrence over the sequence computes between its projections (Mamba, Mamba-2, gated delta rule, lightning
// attention, short convolutions).
#pragma once

#include "core/program/layer_operations.h"

namespace fourfold {

// Of `layers` layers: the products of a chunk-wise scan, and what passes through memory. `recompute` (0..1): the share
// of forwards repeated.
void add_scan_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    const ScanRow& scan, double layers, double recompute);

} // namespace fourfold
