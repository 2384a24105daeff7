// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/layer.h"

#include "core/model/family.h"

namespace fourfold {
namespace {

struct LayerCounting {
    const Cut& cut;
    double norm_vectors; // of a norm
    LayerParameters sum{};

    void operator()(const NormRow& norm) { replicated(norm_vectors * double(norm.width)); }
    void operator()(const VectorRow& vector)
    {
        if (vector.trained)
            sum.vectors += double(vector.width) / cut.tp;
        else
            sum.ruled += double(vector.width);
    }
    void operator()(const MatrixRow& matrix)
    {
        const double elements = cut.out(matrix) * cut.in(matrix);
        const double bias = matrix.bias ? cut.out(matrix) : 0;
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

Rows layer_rows(const ModelShape& model, bool experts)
{
    Rows rows;
    rows.reserve(20);
    if (const Family* family = find_family(model.model_type))
        family->layer(rows, model, experts);
    return rows;
}

} // namespace fourfold
