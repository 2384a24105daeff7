// SPDX-License-Identifier: GPL-3.0-or-later
// Which precisions a GPU can train in.
#pragma once

#include "core/hardware/cluster.h"

namespace fourfold {

// True when the GPU has a matrix-product peak for it; every GPU has fp32.
bool has_precision(const Gpu& gpu, Precision precision);
// `wanted` where the GPU has it, else the first of bf16, fp16, fp32 that it has.
Precision nearest_precision(const Gpu& gpu, Precision wanted);

// Matrix units that take scales of small blocks (mxfp8): those that know fp4 too.
bool has_block_scales(const Gpu& gpu);

} // namespace fourfold
