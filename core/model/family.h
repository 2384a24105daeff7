// SPDX-License-Identifier: GPL-3.0-or-later
// What a model family adds to the shared shape: its Hugging Face keys and its parameter names. One file a group of
// families; a new family is one more entry of kFamilies in families.cpp.
#pragma once

#include "core/base/json_fields.h"
#include "core/model/model_shape.h"
#include "core/model/parameters.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// Collects the tensors of one model with the initialisation that all families share: normal(0, 0.02), residual output
// projections scaled by 1/sqrt(2 layers) (GPT-2 paper, section 2.3), norms 1, biases 0.
class TableBuilder {
public:
    TableBuilder(const ModelShape& model, int64_t vocab, std::vector<Parameter>& table)
        : model(model)
        , vocab(vocab)
        , table_(table)
    {
    }

    const ModelShape& model;
    const int64_t vocab; // padded
    int layer = -1;
    std::string prefix; // put before every name, e.g. "model.layers.3."

    void embedding(const std::string& name);
    void position_embedding(const std::string& name);
    void head(const std::string& name);
    // RMSNorm has a weight, LayerNorm also a bias. `width`: elements.
    void norm(const std::string& name, int64_t width);

    enum class Split { columns, rows, none }; // over tp: output features, input features, replicated
    // Weight [out, in] named "<name>.weight", and "<name>.bias" [out] when `bias`. `residual`: writes to the residual
    // stream.
    void linear(const std::string& name, int64_t out, int64_t in, Split split, ParameterKind kind, bool bias,
        bool residual = false);
    // SwiGLU of three projections: gate and up [ffn, hidden], down [hidden, ffn].
    void gated_mlp(
        const std::string& gate, const std::string& up, const std::string& down, int64_t ffn, ParameterKind kind);
    void vector(const std::string& name, int64_t width, ParameterKind kind);

private:
    void add(Parameter parameter);

    std::vector<Parameter>& table_;
};

struct Family {
    std::string_view model_type;
    // Fills the keys that the family has; model_type, id and name are already set. Checks across keys follow in
    // model_from_config.
    Expected<void> (*read)(const Fields& config, ModelShape& model);
    // Writes the same keys.
    void (*write)(const ModelShape& model, Json& config);
    // Tensors before the layers, of one layer (builder.layer, builder.prefix unset), and after the layers without the
    // head.
    void (*embedding)(TableBuilder& builder);
    void (*layer)(TableBuilder& builder);
    void (*final_norm)(TableBuilder& builder);
    std::string_view head_name;
    bool tied_by_default;
};

// Null when unknown.
const Family* find_family(std::string_view model_type);
std::span<const Family> families();

// Shared by the families that use Llama's keys.
namespace config_keys {
// hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim, vocab_size,
// max_position_embeddings, rms_norm_eps, hidden_act.
Expected<void> read_common(const Fields& config, ModelShape& model);
void write_common(const ModelShape& model, Json& config);
// rope_theta and rope_scaling, or rope_parameters as newer files have it.
Expected<void> read_rope(const Fields& config, ModelShape& model);
void write_rope(const ModelShape& model, Json& config);
// `key` must name one of `accepted` activations when present.
Expected<void> check_activation(
    const Fields& config, const std::string& key, std::initializer_list<std::string_view> accepted);
// A feature that Fourfold does not model: `key` must be absent or false.
Expected<void> must_be_off(const Fields& config, const std::string& key, const std::string& what);
// Bounds of sizes: large enough for every published model, small enough that no product of them overflows.
inline constexpr int kMostLayers = 4096, kMostHeads = 65536, kMostExperts = 4096;
inline constexpr int64_t kMostHeadDim = 65536, kMostWidth = int64_t(1) << 24, kMostVocab = int64_t(1) << 28;
} // namespace config_keys

extern const Family kLlama, kMistral, kQwen2; // llama.cpp
extern const Family kGpt2, kGptNeox, kBloom; // gpt.cpp
extern const Family kMixtral, kDeepseekV3; // moe.cpp

// Names that families share: "model.embed_tokens.weight", "model.norm.weight".
void llama_embedding(TableBuilder& b);
void llama_final_norm(TableBuilder& b);

} // namespace fourfold
