// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

struct Tile {
    double rows, columns, efficiency; // efficiency: smaller tiles reuse operands less
};
constexpr Tile kTiles[] = {{128, 256, 1.0}, {256, 128, 1.0}, {128, 128, 0.94}, {64, 128, 0.80}, {128, 64, 0.80}};

} // namespace

double tile_and_wave_utilisation(double m, double n, double batch, int multiprocessors)
{
    if (multiprocessors <= 0 || m <= 0 || n <= 0 || batch <= 0)
        return 1;
    double best = 0;
    for (const Tile& tile : kTiles) {
        const double rows = std::ceil(m / tile.rows), columns = std::ceil(n / tile.columns);
        const double tiles = rows * columns * batch;
        const double waves = std::ceil(tiles / multiprocessors);
        const double filled = m / (rows * tile.rows) * (n / (columns * tile.columns));
        best = std::max(best, tile.efficiency * filled * tiles / (waves * multiprocessors));
    }
    return best;
}

Price price_gemm(const Gemm& product, const CostContext& context)
{
    const Constants& c = context.constants;
    const double gain = product.narrow
        ? 1 + (std::min(c[Constant::fp8_gain], context.fp8_ratio) - 1) * context.narrow_share * c[product.narrow_share]
        : 1;
    const double tiles
        = tile_and_wave_utilisation(product.m, product.n, product.batch, context.cluster.gpu.multiprocessors);
    const double depth = product.k / (product.k + c[Constant::gemm_half_k] * context.balance_ratio * gain);
    const double rate = context.peak_flops * context.clock_share * gain * c[Constant::gemm_efficiency] * tiles * depth;
    const double compute = flops(product) / rate;
    // Operands and result once through memory.
    const double bytes = context.operand_bytes * product.batch
        * (product.m * product.k + product.n * product.k + product.m * product.n);
    const double memory = bytes / (context.memory_bytes_s * c[Constant::stream_efficiency]);
    Price price;
    price.seconds = std::max({compute, memory, c[Constant::kernel_floor_s]});
    if (!context.with_formulas)
        return price;
    price.source = price_source("shape of the model; data sheet", {Constant::gemm_efficiency, Constant::gemm_half_k});
    if (compute >= memory)
        price.formula
            = text_of("2 m n k = 2 * %.0f * %.0f * %.0f%s / (%.0f TFLOP/s * %.3f * tiles %.3f * k %.3f) = %.4g ms",
                product.m, product.n, product.k, product.batch > 1 ? text_of(" * %.0f", product.batch).c_str() : "",
                context.peak_flops * context.clock_share * gain / 1e12, c[Constant::gemm_efficiency], tiles, depth,
                compute * 1e3);
    else
        price.formula = text_of("memory bound: %.4g MB / (%.0f GB/s * %.2f) = %.4g ms", bytes / 1e6,
            context.memory_bytes_s / 1e9, c[Constant::stream_efficiency], memory * 1e3);
    if (price.seconds > std::max(compute, memory))
        price.formula += text_of(", at least %.4g ms a kernel", price.seconds * 1e3);
    return price;
}

Usage usage_of_gemm(const Gemm& product, const CostContext& context)
{
    Usage usage;
    usage[Limit::compute] = flops(product) / (context.limit_flops * (product.narrow ? context.narrow_ratio : 1));
    const double operand = product.narrow ? context.narrow_bytes : context.operand_bytes;
    usage[Limit::memory] = product.batch
        * ((product.m + product.n) * product.k * operand + product.m * product.n * context.operand_bytes)
        / context.limit_bytes_s;
    return usage;
}

} // namespace fourfold
