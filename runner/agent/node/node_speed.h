// SPDX-License-Identifier: GPL-3.0-or-later
// How fast this node's cores multiply matrices and move memory: figures for a cluster preset of CPUs.
#pragma once

#include "core/base/json.h"

namespace fourfold {

// {"threads", "memory_bandwidth_gb_s" (read and write of a copy), "gemm_tflops_fp32", "instructions" ("avx512", "avx2",
// "sse2")}; takes about a second on all usable cores.
Json measure_speed();

} // namespace fourfold
