// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a decoder that is described layer by layer (decoder.h): of one layer, and of the mean of those with or
// without experts, in which each row has the share of the layers that have it.
#include "core/model/blocks.h"
#include "core/model/family.h"

#include <algorithm>
#include <map>

namespace fourfold {

namespace {
AttentionShape attention_of(const ModelShape& m, bool windowed)
{
    const Decoder& d = *m.decoder;
    if (windowed && d.windowed)
        return *d.windowed;
    const int64_t value = m.latent ? m.latent->value_head_dim : d.value_dim > 0 ? d.value_dim : m.head_dim;
    return {m.heads, m.kv_heads, m.head_dim, value, d.full_values_are_keys && !windowed, d.full_sinks};
}

void add_query_key_norms(Rows& rows, const Decoder& d, const AttentionShape& a)
{
    if (d.query_key_norm == QkNorm::none)
        return;
    const bool whole = d.query_key_norm == QkNorm::whole;
    rows.emplace_back(NormRow{Role::query_norm, "self_attn.q_norm", a.head_dim * (whole ? a.heads : 1)});
    rows.emplace_back(NormRow{Role::key_norm, "self_attn.k_norm", a.head_dim * (whole ? a.kv_heads : 1)});
}

void add_grouped(Rows& rows, const ModelShape& m, const AttentionShape& a, bool windowed)
{
    const Decoder& d = *m.decoder;
    const int64_t queries = a.heads * a.head_dim, keys = a.kv_heads * a.head_dim, values = a.kv_heads * a.value_dim,
                  output = a.heads * a.value_dim;
    const auto add = [&](Role role, std::string_view name, int64_t out, bool key_heads) {
        rows.emplace_back(MatrixRow{role, name, out, m.hidden, Split::columns, "qkv projection",
            ParameterKind::attention, m.qkv_bias, key_heads});
    };
    add(Role::query, "self_attn.q_proj", queries + (d.output_gate == OutputGate::element ? output : 0), false);
    add(Role::key, "self_attn.k_proj", keys, true);
    if (!a.values_are_keys)
        add(Role::value, "self_attn.v_proj", values, true);
    add_query_key_norms(rows, d, a);
    if (a.sinks)
        rows.emplace_back(VectorRow{Role::sinks, "self_attn.sinks", a.heads, true});
    rows.emplace_back(AttentionRow{a.heads, a.kv_heads, queries, keys, values, output, windowed ? 1.0 : 0.0});
    rows.emplace_back(MatrixRow{Role::output, "self_attn.o_proj", m.hidden, output, Split::rows,
        "attention output projection", ParameterKind::attention, d.output_bias});
}

void add_indexer(Rows& rows, const ModelShape& m)
{
    const Decoder& d = *m.decoder;
    const int64_t from = m.latent && m.latent->q_rank > 0 ? m.latent->q_rank : m.hidden;
    const auto add = [&](std::string_view name, int64_t out, int64_t in, std::string_view product) {
        rows.emplace_back(MatrixRow{Role::inner, name, out, in, Split::none, product});
    };
    add("self_attn.indexer.wq_b", d.index_heads * d.index_head_dim, from, "indexer's queries");
    add("self_attn.indexer.wk", d.index_head_dim, m.hidden, "indexer's keys");
    add("self_attn.indexer.weights_proj", d.index_heads, m.hidden, "indexer's keys");
    rows.emplace_back(VectorRow{Role::inner, "self_attn.indexer.k_norm.weight", d.index_head_dim, true});
    rows.emplace_back(VectorRow{Role::inner, "self_attn.indexer.k_norm.bias", d.index_head_dim, true});
}

void add_attention(Rows& rows, const ModelShape& m, const LayerKind& kind)
{
    const Decoder& d = *m.decoder;
    const bool windowed = kind.mixer == Mixer::window;
    const AttentionShape a = attention_of(m, windowed);
    if (m.latent)
        add_latent_attention(rows, m);
    else
        add_grouped(rows, m, a, windowed);
    if (d.output_gate == OutputGate::head)
        rows.emplace_back(
            MatrixRow{Role::inner, "self_attn.g_proj", a.heads, m.hidden, Split::columns, "attention gate"});
    if (kind.indexer)
        add_indexer(rows, m);
}

// The norms of a branch: `role` in front of it, `post` behind it.
void add_branch_norm(Rows& rows, const ModelShape& m, Role role, std::string_view name)
{
    rows.emplace_back(NormRow{role, name, m.decoder->weightless_norms ? 0 : m.hidden});
}

void add_mixer(Rows& rows, const ModelShape& m, const LayerKind& kind)
{
    if (kind.mixer == Mixer::none)
        return;
    const BlockNorms norms = m.decoder->norms;
    if (norms != BlockNorms::behind)
        add_branch_norm(rows, m, Role::attention_norm, "input_layernorm");
    if (kind.scans())
        add_scan(rows, m);
    if (kind.attends())
        add_attention(rows, m, kind);
    if (norms == BlockNorms::behind || norms == BlockNorms::both)
        add_branch_norm(rows, m, Role::attention_post_norm, "post_attention_layernorm");
}

constexpr MlpNames kSharedExpert{
    "mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj", "mlp.shared_expert.down_proj"};

void add_expert_mlp(Rows& rows, const ModelShape& m)
{
    const Decoder& d = *m.decoder;
    ExpertNames names{.router = "mlp.gate", .each = kLlamaExpert, .hidden = d.expert_hidden};
    if (d.routing_bias)
        names.routing_bias = "mlp.gate.e_score_correction_bias";
    if (d.expert_hidden > 0) {
        rows.emplace_back(MatrixRow{Role::inner, "mlp.fc1_latent_proj", d.expert_hidden, m.hidden, Split::none,
            "down to what experts see", ParameterKind::mlp});
        rows.emplace_back(MatrixRow{Role::inner, "mlp.fc2_latent_proj", m.hidden, d.expert_hidden, Split::none,
            "up from what experts give", ParameterKind::mlp});
    }
    add_experts(rows, m, names);
    if (d.router_bias)
        rows.emplace_back(VectorRow{Role::inner, "mlp.gate.bias", m.experts->count, true});
    if (d.shared_ffn > 0)
        add_shared_mlp(rows, m, kSharedExpert, d.shared_ffn);
    if (d.shared_gate)
        rows.emplace_back(VectorRow{Role::inner, "mlp.shared_expert_gate.weight", m.hidden, true});
}

void add_mlp_branch(Rows& rows, const ModelShape& m, LayerMlp mlp)
{
    if (mlp == LayerMlp::none)
        return;
    const Decoder& d = *m.decoder;
    if (d.norms == BlockNorms::before || d.norms == BlockNorms::both)
        add_branch_norm(rows, m, Role::mlp_norm, "pre_feedforward_layernorm");
    if (mlp == LayerMlp::dense || d.dense_beside) {
        const std::size_t first = rows.size();
        add_mlp(rows, m, kLlamaMlp);
        for (std::size_t i = first; i < rows.size(); ++i)
            if (auto* matrix = std::get_if<MatrixRow>(&rows[i]))
                matrix->bias = d.mlp_bias;
    }
    if (mlp == LayerMlp::experts)
        add_expert_mlp(rows, m);
    if (d.norms == BlockNorms::behind || d.norms == BlockNorms::both)
        add_branch_norm(rows, m, Role::mlp_post_norm, "post_feedforward_layernorm");
    if (d.layer_vectors > 0)
        rows.emplace_back(VectorRow{Role::inner, "mlp.vectors", d.layer_vectors, true});
}

void give_share(Rows& rows, std::size_t first, double share)
{
    for (std::size_t i = first; i < rows.size(); ++i)
        std::visit([share](auto& row) { row.share = share; }, rows[i]);
}

// Of the layers whose MLP is a mixture, or of the others.
void mean_layer(Rows& rows, const ModelShape& m, bool experts)
{
    if (!m.decoder || m.decoder->layers.empty())
        return;
    std::map<LayerKind, int> mixers; // their MLPs are alike
    std::map<LayerMlp, int> mlps;
    int layers = 0;
    for (int layer = 0; layer < m.layers; ++layer) {
        LayerKind kind = m.decoder->kind(layer);
        if ((kind.mlp == LayerMlp::experts) != experts)
            continue;
        ++layers;
        ++mlps[kind.mlp];
        kind.mlp = LayerMlp::none;
        ++mixers[kind];
    }
    if (layers == 0 && m.layers > 0)
        return mean_layer(rows, m, !experts); // all are of the other kind
    for (const auto& [kind, count] : mixers) {
        const std::size_t first = rows.size();
        add_mixer(rows, m, kind);
        give_share(rows, first, double(count) / layers);
    }
    for (const auto& [mlp, count] : mlps) {
        const std::size_t first = rows.size();
        add_mlp_branch(rows, m, mlp);
        give_share(rows, first, double(count) / layers);
    }
}
} // namespace

void add_decoder_layer(Rows& rows, const ModelShape& model, int layer)
{
    const LayerKind& kind = model.decoder->kind(layer);
    add_mixer(rows, model, kind);
    add_mlp_branch(rows, model, kind.mlp);
}

double branches(const ModelShape& model, bool experts)
{
    if (!model.decoder)
        return 2;
    int layers = 0, count = 0;
    for (int layer = 0; layer < model.layers; ++layer) {
        const LayerKind& kind = model.decoder->kind(layer);
        if ((kind.mlp == LayerMlp::experts) != experts)
            continue;
        ++layers;
        count += int(kind.mixer != Mixer::none) + int(kind.mlp != LayerMlp::none);
    }
    return layers > 0 ? double(count) / layers : 2;
}

namespace config_keys {
Expected<void> read_decoder(const Fields& config, ModelShape& model); // decoder_keys.cpp
void write_decoder(const ModelShape& model, Json& config);
} // namespace config_keys

const Family kDecoder{"decoder", config_keys::read_decoder, config_keys::write_decoder, mean_layer, kLlamaNames};

} // namespace fourfold
