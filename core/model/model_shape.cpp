// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over the rows of the layers, without the table of their tensors; tests hold the two equal.
#include "core/model/layer.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

bool ModelShape::windowed(int layer) const
{
    if (decoder)
        return decoder->kind(layer).mixer == Mixer::window;
    return window.tokens > 0 && (layer + 1) % window.full_every != 0;
}

bool ModelShape::is_moe_layer(int layer) const
{
    if (decoder)
        return decoder->kind(std::min(layer, layers - 1)).mlp == LayerMlp::experts; // modules: as the last layer
    return experts && layer >= experts->dense_layers && (layer + 1) % experts->every == 0;
}

int ModelShape::moe_layers(int first, int count) const
{
    if (!experts || count <= 0)
        return 0;
    if (decoder) {
        int found = 0;
        for (int layer = first; layer < first + count; ++layer)
            found += int(is_moe_layer(layer));
        return found;
    }
    const auto before = [&](int layer) { return layer / experts->every; }; // multiples of `every` up to `layer`
    const int from = std::max(first, experts->dense_layers);
    return std::max(0, before(first + count) - before(std::min(from, first + count)));
}

double ModelShape::windowed_share() const
{
    if (window.tokens <= 0 || layers <= 0)
        return 0;
    if (decoder) {
        int attending = 0, found = 0;
        for (int layer = 0; layer < layers; ++layer) {
            attending += int(decoder->kind(layer).attends());
            found += int(windowed(layer));
        }
        return attending > 0 ? double(found) / attending : 0;
    }
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
    if (decoder)
        total += (decoder->head_bias ? double(vocab) : 0) - (decoder->weightless_norms ? norm_vectors * h : 0);
    if (positions == Positions::learned)
        total += double(max_positions) * h;
    for_each_kind(*this, [&](double layers_of_kind, const Rows& rows) {
        const LayerParameters one = layer_parameters(*this, rows, {});
        const double routed = experts ? experts->count : 0;
        total += layers_of_kind * (one.matrices(routed) + routed * one.expert_vectors + one.vectors + one.ruled);
    });
    return std::round(total); // shares of a mean layer are fractions
}

double ModelShape::active_matmul_parameters() const
{
    double total = double(vocab) * double(hidden);
    for_each_kind(*this, [&](double layers_of_kind, const Rows& rows) {
        total += layers_of_kind * layer_parameters(*this, rows, {}).matrices(experts ? experts->active : 0);
    });
    return std::round(total);
}

double ModelShape::active_matmul_parameters_ahead() const
{
    if (predicted_ahead == 0)
        return 0;
    const LayerParameters one = layer_parameters(*this, rows_of_module(*this), {});
    return predicted_ahead * (one.matrices(experts ? experts->active : 0) + double(vocab) * double(hidden));
}

} // namespace fourfold
