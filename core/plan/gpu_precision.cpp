// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/gpu_precision.h"

namespace fourfold {

bool has_precision(const Gpu& gpu, Precision precision)
{
    switch (precision) {
    case Precision::fp32:
        return true;
    case Precision::fp16:
        return gpu.fp16_tflops.has_value();
    case Precision::bf16:
        return gpu.bf16_tflops.has_value();
    case Precision::nvfp4: // AMD's matrix units take fp4 with other scales (OCP MX)
        return gpu.fp4_tflops.has_value() && !gpu.generation.starts_with("cdna");
    case Precision::fp8:
        break;
    }
    return gpu.fp8_tflops.has_value();
}

bool has_block_scales(const Gpu& gpu)
{
    return gpu.fp4_tflops.has_value();
}

Precision nearest_precision(const Gpu& gpu, Precision wanted)
{
    for (const Precision precision : {wanted, Precision::bf16, Precision::fp16}) {
        if (has_precision(gpu, precision))
            return precision;
    }
    return Precision::fp32;
}

} // namespace fourfold
