// SPDX-License-Identifier: GPL-3.0-or-later
// A layer described once: the rows of which it is made, in the order in which they run and in which its weights stand
// in a file of Hugging Face's. Everything that knows a layer asks its rows:
//   parameters.cpp           the tensors with their names, shapes and initial values, for trainer and checkpoints;
//   layer.cpp                parameters, whole or of one rank; model_shape.cpp and flops.cpp add them up;
//   program/rank_shape       the widths that one rank sees;
//   program/layer_operations the matrix products and what runs between them;
//   program/allocations      what a forward keeps for the backward;
//   trainer/model/block      the weights, each by its Role.
// A family (families.cpp) puts its rows together from the blocks of blocks.h. What no row can say yet is a row of a new
// kind: it compiles when each of the above says what it means there.
#pragma once

#include "core/model/model_shape.h"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace fourfold {

// What a weight does in its model: a family has each at most once in a layer, experts apart.
enum class Role : std::uint8_t {
    embedding,
    position_embedding,
    embedding_norm,
    attention_norm,
    query,
    key,
    value,
    query_norm, // QK-norm, of every head alike (arXiv:2302.05442)
    key_norm,
    sinks, // of attention
    fused, // queries, keys and values in one projection, head after head
    output,
    mlp_norm,
    attention_post_norm, // of what attention, and the MLP, adds to the residual stream
    mlp_post_norm,
    gate,
    up,
    down,
    router,
    routing_bias,
    final_norm,
    head,
    inner, // found by its name alone
    query_down, // latent projections: to the latents, their norms, and from them
    query_latent_norm,
    query_up,
    kv_down,
    kv_latent_norm,
    kv_up,
    ahead_embedding_norm, // of a module that predicts further ahead: of its two inputs, what joins them, its output's
    ahead_stream_norm,
    ahead_projection,
    ahead_head_norm,
};

// projection: joins streams outside of attention and MLP; replicated, in no narrow numbers and no matter of Muon's.
enum class ParameterKind {
    embedding,
    position_embedding,
    attention,
    mlp,
    expert,
    router,
    projection,
    norm,
    bias,
    head
};

// Names: Hugging Face's within the layer, ".weight" and ".bias" follow. All texts are literals.
// `share` of a row: in how many of the layers that the rows stand for it is; 1 where all are alike (decoder.h: a mean
// layer of a model whose layers are of several kinds).

// A vector; LayerNorm has a second one. Replicated. Of no width: a norm without weights.
struct NormRow {
    Role role = Role::inner;
    std::string_view name{};
    std::int64_t width = 0;
    double share = 1;
};

enum class Split { columns, rows, none }; // over tp: output features, input features, replicated

// y = x W^T, W: [out, in].
struct MatrixRow {
    Role role = Role::inner;
    std::string_view name{};
    std::int64_t out = 0, in = 0;
    Split split = Split::none;
    std::string_view product{}; // of rows that follow each other and multiply the same input: one product
    ParameterKind kind = ParameterKind::attention; // an expert's is split over etp
    bool bias = false;
    bool key_heads = false; // its columns are key/value heads: tp ranks beyond their number hold copies
    double share = 1;
    [[nodiscard]] bool residual() const { return split == Split::rows; } // writes to the residual stream
};

// Takes part in no product. Not trained: moved by a rule, without gradient and states of the optimizer.
struct VectorRow {
    Role role = Role::inner;
    std::string_view name{};
    std::int64_t width = 0;
    bool trained = false; // an element for each head, split with them
    double share = 1;
};

// Scaled dot products of every head. Widths of all heads; queries, keys, values and output are kept for the backward.
struct AttentionRow {
    int heads = 0, kv_heads = 0;
    std::int64_t query = 0, key = 0, value = 0, output = 0;
    double windowed = 0; // of the layers that it stands for
    double share = 1;
};

// A recurrence over the sequence instead of attention, or beside it. Widths of all heads.
struct ScanRow {
    int heads = 1, chunk = 64;
    std::int64_t state = 0, head_dim = 0; // of a head's state; 0: no state
    std::int64_t inputs = 0, output = 0; // kept for the backward
    std::int64_t convolved = 0; // channels
    int convolution = 0;
    bool products = true; // chunk by chunk in matrix products, else element by element
    bool corrects = false; // the delta rule: a state is read before it is written
    double share = 1;
    // Of a token, forward: what reads and writes the state and the convolution, the least that must be computed.
    [[nodiscard]] double flops() const;
};

// Between the products of an MLP: a gated one reads two inputs. Inputs and output are kept for the backward.
struct ActivationRow {
    std::string_view label{}; // in formulas: "MLP"
    std::int64_t width = 0;
    int inputs = 1;
    double share = 1;
};

// Of `count` MLPs each token takes some. Names: '*' stands for the expert's number.
struct ExpertsRow {
    int count = 0;
    std::vector<MatrixRow> each;
    ActivationRow activation;
    double share = 1;
};

using Row = std::variant<NormRow, MatrixRow, VectorRow, AttentionRow, ScanRow, ActivationRow, ExpertsRow>;
using Rows = std::vector<Row>;

// Of one layer; `experts`: of one whose MLP is a mixture (ModelShape::is_moe_layer). Empty: the family is unknown.
Rows layer_rows(const ModelShape& model, bool experts);
// Of one layer by its number, each row whole; numbers from `layers` on are the modules that predict further ahead.
Rows rows_of_layer(const ModelShape& model, int layer);
// Of such a module: its last layer's kind, between what joins its inputs and the norm before the head.
Rows rows_of_module(const ModelShape& model);
// How many branches write to the residual stream, of the two that a layer usually has: less where some layers are
// attention or an MLP alone.
double branches(const ModelShape& model, bool experts);

// each(layers, rows) for the dense layers and those with experts.
template <typename Each>
void for_each_kind(const ModelShape& model, Each&& each)
{
    const int moe = model.moe_layers();
    if (moe < model.layers)
        each(double(model.layers - moe), layer_rows(model, false));
    if (moe > 0)
        each(double(moe), layer_rows(model, true));
}

// The same, and for the modules that predict further ahead.
template <typename Each>
void for_each_trained(const ModelShape& model, Each&& each)
{
    for_each_kind(model, each);
    if (model.predicted_ahead > 0)
        each(double(model.predicted_ahead), rows_of_module(model));
}

// Over how many ranks a layer is cut.
struct Cut {
    double tp = 1, key_heads = 1, etp = 1;
    [[nodiscard]] double out(const MatrixRow& matrix) const;
    [[nodiscard]] double in(const MatrixRow& matrix) const;
};

// Elements on one rank.
struct LayerParameters {
    double attention = 0, mlp = 0, router = 0; // matrices; the shared experts are `mlp`
    double expert = 0, expert_vectors = 0; // matrices and biases of one routed expert
    double vectors = 0; // norms and biases
    double replicated = 0; // of them, what every tp rank holds whole
    double keys = 0; // of all the above, the projections to key/value heads with their biases
    double ruled = 0; // moved by a rule

    [[nodiscard]] double matrices(double experts) const { return attention + mlp + router + experts * expert; }
};
LayerParameters layer_parameters(const ModelShape& model, const Rows& rows, const Cut& cut);

// The first row of a kind, null where there is none.
template <typename Kind>
const Kind* find_row(const Rows& rows)
{
    for (const Row& row : rows) {
        if (const Kind* found = std::get_if<Kind>(&row))
            return found;
    }
    return nullptr;
}

} // namespace fourfold
