// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over the rows of the layers, without the table of their tensors; tests hold the two equal.
#include "core/model/layer.h"

namespace fourfold {

namespace {
// each(layers, parameters of one) for the dense layers and those with experts.
template <typename Each>
void for_each_kind(const ModelShape& model, Each&& each)
{
    const int moe = model.experts ? model.layers - model.experts->dense_layers : 0;
    if (moe < model.layers)
        each(double(model.layers - moe), layer_parameters(model, layer_rows(model, false), {}));
    if (moe > 0)
        each(double(moe), layer_parameters(model, layer_rows(model, true), {}));
}
} // namespace

double ModelShape::parameters() const
{
    const double h = double(hidden), norm_vectors = norm == Norm::layer ? 2 : 1;
    double total = double(vocab) * h * (tied_embeddings ? 1 : 2) + norm_vectors * h * (embedding_norm ? 2 : 1);
    if (positions == Positions::learned)
        total += double(max_positions) * h;
    for_each_kind(*this, [&](double layers_of_kind, const LayerParameters& one) {
        total += layers_of_kind * (one.matrices(experts ? experts->count : 0) + one.vectors + one.ruled);
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
