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
    const int64_t b = x.size(1), plain = latent.nope_head_dim, turned = latent.rope_head_dim;
    // Of latents there is less to gather than of the stream, and what gives them each rank computes for its rows alone.
    const auto heads = [&](const at::Tensor& low, const at::Tensor& up, int64_t width) {
        const at::Tensor made = products.within(products.border(low), up);
        return made.view({made.size(0), b, -1, width});
    };
    const auto from_latent = [&](const at::Tensor& low, const at::Tensor& norm, const at::Tensor& up, int64_t width) {
        return heads(rms_norm(kernels, low.contiguous(), norm, shape_.norm_eps), up, width);
    };
    Heads out;
    const at::Tensor query = query_.defined()
        ? heads(x, query_, plain + turned)
        : from_latent(products.outside(x, query_down_), query_norm_, query_up_, plain + turned);
    out.query = at::cat({query.narrow(-1, 0, plain), rotated(kernels, query.narrow(-1, plain, turned), rotary)}, -1);

    const at::Tensor low = products.outside(x, kv_down_);
    const at::Tensor keys_and_values
        = from_latent(low.narrow(-1, 0, latent.kv_rank), kv_norm_, kv_up_, plain + latent.value_head_dim);
    const at::Tensor shared
        = rotated(kernels, products.border(low.narrow(-1, latent.kv_rank, turned).contiguous()).unsqueeze(2), rotary);
    out.key = at::cat(
        {keys_and_values.narrow(-1, 0, plain), shared.expand({shared.size(0), b, keys_and_values.size(2), turned})},
        -1);
    out.value = keys_and_values.narrow(-1, plain, latent.value_head_dim);
    const int64_t wider = latent.value_head_dim - (plain + turned);
    if (wider < 0)
        out.value = at::constant_pad_nd(out.value, {0, -wider});
    for (at::Tensor* const x : {&out.query, &out.key})
        if (wider > 0) // zeros change no product
            *x = at::constant_pad_nd(*x, {0, wider});
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
