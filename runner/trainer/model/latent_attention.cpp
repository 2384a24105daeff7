// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/latent_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>

namespace fourfold::trainer {

namespace {
// DeepSeek pairs neighbouring elements (2i, 2i + 1), rotate() those half a head apart. Queries and keys are put in the
// same order, which changes no score.
at::Tensor rotated(Kernels kernels, const at::Tensor& x, const RotaryTable& table)
{
    auto shape = x.sizes().vec();
    shape.back() /= 2;
    shape.push_back(2);
    return rotate(kernels, x.reshape(shape).transpose(-1, -2).reshape(x.sizes()), table);
}
} // namespace

LatentProjections::LatentProjections(const ModelShape& shape, const Weights& weights, int layer)
    : shape_(shape)
    , query_(weights.find(layer, Role::query).weight)
    , query_down_(weights.find(layer, Role::query_down).weight)
    , query_norm_(weights.find(layer, Role::query_latent_norm).weight)
    , query_up_(weights.find(layer, Role::query_up).weight)
    , kv_down_(weights.find(layer, Role::kv_down).weight)
    , kv_norm_(weights.find(layer, Role::kv_latent_norm).weight)
    , kv_up_(weights.find(layer, Role::kv_up).weight)
{
}

LatentProjections::Heads LatentProjections::forward(
    const at::Tensor& x, const RotaryTable& rotary, const RegionProducts& products, Kernels kernels) const
{
    const LatentAttention& latent = *shape_.latent;
    const int64_t s = x.size(0), b = x.size(1), plain = latent.nope_head_dim, turned = latent.rope_head_dim;
    const auto from_latent = [&](const at::Tensor& low, const at::Tensor& norm, const at::Tensor& up, int64_t width) {
        return products.within(rms_norm(kernels, low.contiguous(), norm, shape_.norm_eps), up).view({s, b, -1, width});
    };
    Heads out;
    const at::Tensor query = query_.defined()
        ? products.within(x, query_).view({s, b, -1, plain + turned})
        : from_latent(products.within(x, query_down_), query_norm_, query_up_, plain + turned);
    out.query = at::cat({query.narrow(-1, 0, plain), rotated(kernels, query.narrow(-1, plain, turned), rotary)}, -1);

    const at::Tensor low = products.within(x, kv_down_);
    const at::Tensor keys_and_values
        = from_latent(low.narrow(-1, 0, latent.kv_rank), kv_norm_, kv_up_, plain + latent.value_head_dim);
    const at::Tensor shared = rotated(kernels, low.narrow(-1, latent.kv_rank, turned).unsqueeze(2), rotary);
    out.key
        = at::cat({keys_and_values.narrow(-1, 0, plain), shared.expand({s, b, keys_and_values.size(2), turned})}, -1);
    out.value = keys_and_values.narrow(-1, plain, latent.value_head_dim);
    if (latent.value_head_dim < plain + turned)
        out.value = at::constant_pad_nd(out.value, {0, plain + turned - latent.value_head_dim});
    return out;
}

at::Tensor LatentProjections::without_filling(const at::Tensor& mixed) const
{
    const int64_t width = shape_.latent->value_head_dim, head_dim = shape_.head_dim;
    if (width >= head_dim)
        return mixed;
    return mixed.view({mixed.size(0), mixed.size(1), -1, head_dim}).narrow(-1, 0, width).flatten(2);
}

} // namespace fourfold::trainer
