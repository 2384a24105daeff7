// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over the rows of the layers, without the table of their tensors; tests hold the two equal.
#include "core/model/layer.h"

#include <algorithm>

namespace fourfold {

namespace {
// each(layers, parameters of one) for the dense layers and those with experts.
template <typename Each>
void for_each_kind(const ModelShape& model, Each&& each)
{
    const int moe = model.moe_layers();
    if (moe < model.layers)
        each(double(model.layers - moe), layer_parameters(model, layer_rows(model, false), {}));
    if (moe > 0)
        each(double(moe), layer_parameters(model, layer_rows(model, true), {}));
}
} // namespace

bool ModelShape::is_moe_layer(int layer) const
{
    return experts && layer >= experts->dense_layers && (layer + 1) % experts->every == 0;
}

int ModelShape::moe_layers(int first, int count) const
{
    if (!experts || count <= 0)
        return 0;
    const auto before = [&](int layer) { return layer / experts->every; }; // multiples of `every` up to `layer`
    const int from = std::max(first, experts->dense_layers);
    return std::max(0, before(first + count) - before(std::min(from, first + count)));
}

double ModelShape::windowed_share() const
{
    if (window.tokens <= 0 || layers <= 0)
        return 0;
    return 1 - double(layers / window.full_every) / layers;
}

double ModelShape::window_keys(double seq_len) const
{
    const double length = std::min(seq_len, double(window.tokens));
    return window.chunked ? length : length * (2 - length / seq_len);
}

double ModelShape::parameters() const
{
    const double h = double(hidden), norm_vectors = norm == Norm::layer ? 2 : 1;
    double total = double(vocab) * h * (tied_embeddings ? 1 : 2) + norm_vectors * h * (embedding_norm ? 2 : 1);
    if (positions == Positions::learned)
        total += double(max_positions) * h;
    for_each_kind(*this, [&](double layers_of_kind, const LayerParameters& one) {
        const double routed = experts ? experts->count : 0;
        total += layers_of_kind * (one.matrices(routed) + routed * one.expert_vectors + one.vectors + one.ruled);
    });
    return total;
}

double ModelShape::active_matmul_parameters() const
{
    double total = double(vocab) * double(hidden);
    for_each_kind(*this, [&](double layers_of_kind, const LayerParameters& one) {
        total += layers_of_kind * one.matrices(experts ? experts->active : 0);
    });
    return total;
}

} // namespace fourfold
