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

void TableBuilder::add(Parameter parameter)
{
    parameter.name = prefix + parameter.name;
    parameter.layer = layer;
    table_.push_back(std::move(parameter));
}

void TableBuilder::embedding(const std::string& name)
{
    add({.name = name,
        .shape = {vocab, model.hidden},
        .tp_dim = 0,
        .kind = ParameterKind::embedding,
        .init_std = kInitStd});
}

void TableBuilder::position_embedding(const std::string& name)
{
    add({.name = name,
        .shape = {model.max_positions, model.hidden},
        .kind = ParameterKind::position_embedding,
        .init_std = kInitStd});
}

void TableBuilder::head(const std::string& name)
{
    add({.name = name, .shape = {vocab, model.hidden}, .tp_dim = 0, .kind = ParameterKind::head, .init_std = kInitStd});
}

void TableBuilder::norm(const std::string& name, int64_t width)
{
    add({.name = name + ".weight",
        .shape = {width},
        .kind = ParameterKind::norm,
        .weight_decay = false,
        .init_std = 0,
        .init_value = 1});
    if (model.norm == Norm::layer)
        vector(name + ".bias", width, ParameterKind::norm);
}

void TableBuilder::vector(const std::string& name, int64_t width, ParameterKind kind)
{
    add({.name = name, .shape = {width}, .kind = kind, .weight_decay = false, .init_std = 0, .init_value = 0});
}

void TableBuilder::linear(
    const std::string& name, int64_t out, int64_t in, Split split, ParameterKind kind, bool bias, bool residual)
{
    const double std = residual ? kInitStd / std::sqrt(2.0 * model.layers) : kInitStd;
    const int tp_dim = split == Split::columns ? 0 : split == Split::rows ? 1 : -1;
    add({.name = name + ".weight", .shape = {out, in}, .tp_dim = tp_dim, .kind = kind, .init_std = std});
    if (bias) {
        add({.name = name + ".bias",
            .shape = {out},
            // The bias of a row-split layer is added once, after the sum over tp.
            .tp_dim = split == Split::columns ? 0 : -1,
            .kind = ParameterKind::bias,
            .weight_decay = false,
            .init_std = 0,
            .init_value = 0});
    }
}

void TableBuilder::gated_mlp(
    const std::string& gate, const std::string& up, const std::string& down, int64_t ffn, ParameterKind kind)
{
    linear(gate, ffn, model.hidden, Split::columns, kind, false);
    linear(up, ffn, model.hidden, Split::columns, kind, false);
    linear(down, model.hidden, ffn, Split::rows, kind, false, true);
}

std::vector<Parameter> parameter_table(
    const ModelShape& model, int64_t vocab, int first_layer, int last_layer, bool with_embedding, bool with_head)
{
    std::vector<Parameter> table;
    const Family* family = find_family(model.model_type);
    if (!family)
        return table;
    TableBuilder builder(model, vocab, table);
    if (with_embedding)
        family->embedding(builder);
    for (int layer = first_layer; layer < last_layer; ++layer) {
        builder.layer = layer;
        family->layer(builder);
    }
    builder.layer = -1;
    builder.prefix.clear();
    if (with_head) {
        family->final_norm(builder);
        if (!model.tied_embeddings || !with_embedding)
            builder.head(std::string(family->head_name));
    }
    return table;
}

} // namespace fourfold
