// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/parameters.h"

#include "core/model/family.h"

#include <cmath>

namespace fourfold {

namespace {
constexpr double kInitStd = 0.02;
}

int64_t Parameter::elements() const
{
    int64_t product = 1;
    for (const int64_t extent : shape)
        product *= extent;
    return product;
}

namespace {

// Collects the tensors of one model with the initialisation that all families share: normal(0, 0.02), residual output
// projections scaled by 1/sqrt(2 layers) (GPT-2 paper, section 2.3), norms 1, biases 0.
class TensorTable {
public:
    TensorTable(const ModelShape& model, int64_t vocab, const WeightNames& names)
        : model_(model)
        , vocab_(vocab)
        , names_(names)
    {
    }

    void embedding()
    {
        lookup(Role::embedding, ParameterKind::embedding, names_.embedding, vocab_, 0);
        if (!names_.position_embedding.empty())
            lookup(Role::position_embedding, ParameterKind::position_embedding, names_.position_embedding,
                model_.max_positions, -1);
        if (!names_.embedding_norm.empty())
            (*this)(NormRow{Role::embedding_norm, names_.embedding_norm, model_.hidden});
    }
    void layer(int number, const Rows& rows)
    {
        layer_ = number;
        prefix_ = std::string(names_.layers) + std::to_string(number) + ".";
        for (const Row& row : rows)
            std::visit(*this, row);
        layer_ = -1;
        prefix_.clear();
    }
    void final_norm()
    {
        const bool none = model_.decoder && model_.decoder->weightless_norms;
        (*this)(NormRow{Role::final_norm, names_.final_norm, none ? 0 : model_.hidden});
    }
    void head() { lookup(Role::head, ParameterKind::head, names_.head, vocab_, 0); }
    void head_bias()
    {
        if (model_.decoder && model_.decoder->head_bias)
            constant(Role::head, names_.head, ".bias", vocab_, ParameterKind::bias).tp_dim = 0;
    }
    std::vector<Parameter> take() { return std::move(table_); }

    void operator()(const NormRow& norm)
    {
        if (norm.width == 0)
            return;
        constant(norm.role, norm.name, ".weight", norm.width, ParameterKind::norm).init_value
            = model_.offset_norms ? 0 : 1;
        if (model_.norm == Norm::layer)
            constant(norm.role, norm.name, ".bias", norm.width, ParameterKind::norm);
    }
    void operator()(const VectorRow& vector)
    {
        Parameter& added = constant(vector.role, vector.name, "", vector.width, ParameterKind::bias);
        added.tp_dim = vector.trained ? 0 : -1;
    }
    void operator()(const MatrixRow& matrix)
    {
        Parameter& weight = add(matrix.role, matrix.name, ".weight");
        weight.shape = {matrix.out, matrix.in};
        weight.tp_dim = matrix.split == Split::columns ? 0 : matrix.split == Split::rows ? 1 : -1;
        weight.kind = matrix.kind;
        weight.key_heads = matrix.key_heads;
        weight.init_std = matrix.residual() ? kInitStd / std::sqrt(2.0 * model_.layers) : kInitStd;
        if (!matrix.bias)
            return;
        Parameter& bias = constant(matrix.role, matrix.name, ".bias", matrix.out, ParameterKind::bias);
        // The bias of a row-split layer is added once, after the sum over tp.
        bias.tp_dim = matrix.split == Split::columns ? 0 : -1;
        bias.key_heads = matrix.key_heads;
    }
    void operator()(const AttentionRow&) { }
    void operator()(const ScanRow&) { }
    void operator()(const ActivationRow&) { }
    void operator()(const ExpertsRow& experts)
    {
        for (expert_ = 0; expert_ < experts.count; ++expert_)
            for (const MatrixRow& matrix : experts.each)
                (*this)(matrix);
        expert_ = -1;
    }

private:
    Parameter& add(Role role, std::string_view name, std::string_view suffix)
    {
        Parameter& parameter = table_.emplace_back();
        parameter.name = prefix_ + std::string(name) + std::string(suffix);
        if (expert_ >= 0)
            parameter.name.replace(parameter.name.find('*'), 1, std::to_string(expert_));
        parameter.layer = layer_;
        parameter.expert = expert_;
        parameter.role = role;
        return parameter;
    }
    Parameter& constant(Role role, std::string_view name, std::string_view suffix, int64_t width, ParameterKind kind)
    {
        Parameter& parameter = add(role, name, suffix);
        parameter.shape = {width};
        parameter.kind = kind;
        parameter.weight_decay = false;
        parameter.init_std = 0;
        return parameter;
    }
    void lookup(Role role, ParameterKind kind, std::string_view name, int64_t rows, int tp_dim)
    {
        Parameter& parameter = add(role, name, ".weight");
        parameter.shape = {rows, model_.hidden};
        parameter.tp_dim = tp_dim;
        parameter.kind = kind;
        parameter.init_std = kInitStd;
    }

    const ModelShape& model_;
    const int64_t vocab_; // padded
    const WeightNames& names_;
    int layer_ = -1, expert_ = -1;
    std::string prefix_;
    std::vector<Parameter> table_;
};

} // namespace

std::vector<Parameter> parameter_table(
    const ModelShape& model, int64_t vocab, int first_layer, int last_layer, bool with_embedding, bool with_head)
{
    const Family* family = find_family(model.model_type);
    if (!family)
        return {};
    TensorTable table(model, vocab, family->names);
    if (with_embedding)
        table.embedding();
    const Rows dense = layer_rows(model, false), moe = model.experts ? layer_rows(model, true) : Rows{};
    for (int layer = first_layer; layer < last_layer; ++layer) {
        if (model.decoder)
            table.layer(layer, rows_of_layer(model, layer));
        else
            table.layer(layer, model.is_moe_layer(layer) ? moe : dense);
    }
    if (with_head) {
        table.final_norm();
        if (!model.tied_embeddings || !with_embedding)
            table.head();
        table.head_bias();
        for (int module = 0; module < model.predicted_ahead; ++module)
            table.layer(model.layers + module, rows_of_module(model));
    }
    return table.take();
}

} // namespace fourfold
