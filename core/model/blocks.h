// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks that families share, as rows (layer.h): kinds of attention and MLPs. A family gives the names.
#pragma once

#include "core/model/layer.h"

namespace fourfold {

// Grouped queries (arXiv:2305.13245) in four projections; attention_grouped.cpp.
struct GroupedNames {
    std::string_view query, key, value, output;
    std::string_view query_norm{}, key_norm{}; // where ModelShape::query_key_norm
    std::string_view sinks{};
    bool weightless_norms = false;
};
inline constexpr GroupedNames kLlamaAttention{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
    "self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm"};
void add_grouped_attention(Rows& rows, const ModelShape& model, const GroupedNames& names);

// Queries, keys and values in one projection, split over tp by heads; attention_grouped.cpp.
struct FusedNames {
    std::string_view fused, output;
};
void add_fused_attention(Rows& rows, const ModelShape& model, const FusedNames& names);

// Multi-head latent attention (arXiv:2405.04434, section 2.1), with DeepSeek's names; attention_latent.cpp.
void add_latent_attention(Rows& rows, const ModelShape& model);

// One layer of a model that is described layer by layer; decoder.cpp.
void add_decoder_layer(Rows& rows, const ModelShape& model, int layer);
// Its recurrence; scan.cpp.
void add_scan(Rows& rows, const ModelShape& model);

// Gated where it has a gate; mlp.cpp.
struct MlpNames {
    std::string_view gate{}, up{}, down{};
};
inline constexpr MlpNames kLlamaMlp{"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"};
void add_mlp(Rows& rows, const ModelShape& model, const MlpNames& names);
// An MLP that every token takes beside its experts, of its own width.
void add_shared_mlp(Rows& rows, const ModelShape& model, const MlpNames& names, std::int64_t width);

inline constexpr MlpNames kLlamaExpert{"mlp.experts.*.gate_proj", "mlp.experts.*.up_proj", "mlp.experts.*.down_proj"};

// Router and experts; `shared`: what every token takes, one MLP of the summed width.
struct ExpertNames {
    std::string_view router{}, routing_bias{};
    MlpNames each{}, shared{};
    bool biases = false; // of router and experts
    std::int64_t hidden = 0; // of what the experts see; 0: the model's
};
void add_experts(Rows& rows, const ModelShape& model, const ExpertNames& names);

} // namespace fourfold
