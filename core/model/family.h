// SPDX-License-Identifier: GPL-3.0-or-later
// What a model family adds to the shared shape: its Hugging Face keys, its layer's rows (layer.h) and the names of its
// weights. One file for a group of families; a new family is one more entry of kFamilies in families.cpp.
#pragma once

#include "core/base/json_fields.h"
#include "core/model/layer.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace fourfold {

// Outside of the rows. ".weight" and ".bias" follow; empty: the family has no such weight.
struct WeightNames {
    std::string_view layers{}; // before a layer's number: "model.layers."
    std::string_view embedding{}, position_embedding{}, embedding_norm{}, final_norm{}, head{};
};

// Llama's, and of the families whose weights have the same names.
inline constexpr WeightNames kLlamaNames{
    .layers = "model.layers.", .embedding = "model.embed_tokens", .final_norm = "model.norm", .head = "lm_head"};

struct Family {
    std::string_view model_type;
    // Fills the keys that the family has; model_type, id and name are already set. Checks across keys follow in
    // model_from_config.
    Expected<void> (*read)(const Fields& config, ModelShape& model);
    // Writes the same keys.
    void (*write)(const ModelShape& model, Json& config);
    // Appends a layer's rows; `experts`: with experts for its MLP.
    void (*layer)(Rows& rows, const ModelShape& model, bool experts);
    WeightNames names;
    bool tied_by_default = false;
    bool trainer_runs = false; // else planner and trainer refuse to run it
    // Hugging Face's files keep its linear layers input first, and the fused projection as all queries, all keys, all
    // values.
    bool input_first = false;
    // The class of Hugging Face's transformers that loads its checkpoints; only of families that the trainer runs.
    std::string_view architecture{};
    // They keep the experts of a layer in one tensor of each kind, input first: [experts, in, out], gates and ups in
    // turns in one of them, and their biases as [experts, out].
    bool experts_together = false;
};

// Null when unknown.
const Family* find_family(std::string_view model_type);
std::span<const Family> families();

// Shared by the families that use Llama's keys.
namespace config_keys {
// hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim, vocab_size,
// max_position_embeddings, rms_norm_eps; the second reads hidden_act as well, which must be SiLU.
Expected<void> read_widths(const Fields& config, ModelShape& model);
Expected<void> read_common(const Fields& config, ModelShape& model);
void write_common(const ModelShape& model, Json& config);
// `count_key` and num_experts_per_tok.
Expected<void> read_routing(const Fields& config, const std::string& count_key, Experts& experts);
// The coefficient of the balance loss; absent: none.
Expected<void> read_balance(const Fields& config, const std::string& key, Experts& experts);
// rope_theta and rope_scaling, or rope_parameters as newer files have it.
Expected<void> read_rope(const Fields& config, ModelShape& model);
// `rope_parameters` of transformers 5, which has an object for each type of layer where there are several.
Expected<Fields> rope_parameters(const Fields& config, const std::string& layer_type);
// DeepSeek's keys of latent attention, and the heads' width that follows from them.
Expected<void> read_latents(const Fields& config, ModelShape& model);
// `sliding_window` of every layer, null or absent: none.
Expected<void> read_window(const Fields& config, ModelShape& model);
void write_window(const ModelShape& model, Json& config);
// `layer_types`, where the file has it, has to be what the model's window is.
Expected<void> check_layer_types(const Fields& config, const ModelShape& model);
void write_rope(const ModelShape& model, Json& config);
// `attention_bias` has to be true, as it is where nothing is said.
Expected<void> check_biased_attention(const Fields& config);
// `key` must name one of `accepted` activations when present.
Expected<void> check_activation(
    const Fields& config, const std::string& key, std::initializer_list<std::string_view> accepted);
// A feature that Fourfold does not model: `key` must be absent or false.
Expected<void> must_be_off(const Fields& config, const std::string& key, const std::string& what);
// How many modules predict further ahead in training, by any of the names that files have for it; absent: none.
Expected<int> read_modules_ahead(const Fields& config);
// What a decoder's layers need has to be there: scan, experts, window, indexer.
Expected<void> check_decoder(const Fields& config, const ModelShape& model);
// Bounds of sizes: large enough for every published model, small enough that no product of them overflows.
inline constexpr int kMostLayers = 4096, kMostHeads = 65536, kMostExperts = 4096;
inline constexpr int64_t kMostHeadDim = 65536, kMostWidth = int64_t(1) << 24, kMostVocab = int64_t(1) << 28;
} // namespace config_keys

extern const Family kLlama, kMistral, kQwen2; // llama.cpp
extern const Family kGpt2, kGptNeox, kBloom; // gpt.cpp
extern const Family kMixtral, kDeepseekV3; // moe.cpp
extern const Family kQwen3, kQwen3Moe; // qwen3.cpp
extern const Family kGemma3; // gemma.cpp
extern const Family kGptOss; // gpt_oss.cpp
extern const Family kGrok; // grok.cpp
extern const Family kLlama4; // llama4.cpp
extern const Family kNemotron; // nemotron.cpp
extern const Family kDecoder; // decoder.cpp

} // namespace fourfold
