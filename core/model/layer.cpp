// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/layer.h"

#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {
namespace {

struct LayerCounting {
    const Cut& cut;
    double norm_vectors; // of a norm
    LayerParameters sum{};

    void operator()(const NormRow& norm) { replicated(norm_vectors * norm.share * double(norm.width)); }
    void operator()(const VectorRow& vector)
    {
        if (vector.trained)
            sum.vectors += vector.share * double(vector.width) / cut.tp;
        else
            sum.ruled += vector.share * double(vector.width);
    }
    void operator()(const MatrixRow& matrix)
    {
        const double elements = matrix.share * cut.out(matrix) * cut.in(matrix);
        const double bias = matrix.bias ? matrix.share * cut.out(matrix) : 0;
        of_kind(matrix.kind) += elements;
        if (matrix.kind == ParameterKind::expert)
            sum.expert_vectors += bias;
        else if (matrix.split == Split::columns)
            sum.vectors += bias;
        else
            replicated(bias);
        if (matrix.key_heads)
            sum.keys += elements + bias;
    }
    void operator()(const AttentionRow&) { }
    void operator()(const ScanRow&) { }
    void operator()(const ActivationRow&) { }
    void operator()(const ExpertsRow& experts)
    {
        for (const MatrixRow& matrix : experts.each)
            (*this)(matrix);
    }

private:
    double& of_kind(ParameterKind kind)
    {
        switch (kind) {
        case ParameterKind::expert:
            return sum.expert;
        case ParameterKind::mlp:
            return sum.mlp;
        case ParameterKind::router:
        case ParameterKind::projection: // as it is on every rank
            return sum.router;
        default:
            return sum.attention;
        }
    }
    void replicated(double elements)
    {
        sum.vectors += elements;
        sum.replicated += elements;
    }
};

} // namespace

double Cut::out(const MatrixRow& matrix) const
{
    const double ranks = matrix.kind == ParameterKind::expert ? etp : matrix.key_heads ? key_heads : tp;
    return double(matrix.out) / (matrix.split == Split::columns ? ranks : 1);
}

double Cut::in(const MatrixRow& matrix) const
{
    const double ranks = matrix.kind == ParameterKind::expert ? etp : tp;
    return double(matrix.in) / (matrix.split == Split::rows ? ranks : 1);
}

LayerParameters layer_parameters(const ModelShape& model, const Rows& rows, const Cut& cut)
{
    LayerCounting counting{cut, model.norm == Norm::layer ? 2.0 : 1.0};
    for (const Row& row : rows)
        std::visit(counting, row);
    return counting.sum;
}

double ScanRow::flops() const
{
    // Written and read once, with the delta rule read once more; 9 an element where it is no matrix product (decay,
    // input, product, sum: arXiv:2312.00752, section 3.3.2).
    const double cells = double(heads) * double(state) * double(head_dim);
    return (products ? (corrects ? 6 : 4) : 9) * cells + 2.0 * convolution * double(convolved);
}

Rows rows_of_layer(const ModelShape& model, int layer)
{
    if (layer >= model.layers)
        return rows_of_module(model);
    if (!model.decoder)
        return layer_rows(model, model.is_moe_layer(layer));
    Rows rows;
    add_decoder_layer(rows, model, layer);
    return rows;
}

Rows rows_of_module(const ModelShape& model)
{
    Rows rows{NormRow{Role::ahead_embedding_norm, "enorm", model.hidden},
        NormRow{Role::ahead_stream_norm, "hnorm", model.hidden},
        MatrixRow{Role::ahead_projection, "eh_proj", model.hidden, 2 * model.hidden, Split::none,
            "projection of a prediction module", ParameterKind::projection}};
    if (model.decoder)
        add_decoder_layer(rows, model, model.layers - 1);
    else
        for (Row& row : layer_rows(model, model.is_moe_layer(model.layers)))
            rows.push_back(std::move(row));
    rows.emplace_back(NormRow{Role::ahead_head_norm, "shared_head.norm", model.hidden});
    return rows;
}

Rows layer_rows(const ModelShape& model, bool experts)
{
    Rows rows;
    rows.reserve(20);
    if (const Family* family = find_family(model.model_type))
        family->layer(rows, model, experts);
    return rows;
}

} // namespace fourfold
