// SPDX-License-Identifier: GPL-3.0-or-later
// Plans small enough to train in a test, and their data.
#pragma once

#include "core/plan/plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::testing {

// Two layers, 4 heads over 2 key/value heads, a vocabulary of 61 (so that tp pads it), Llama 3 rotary scaling, 8
// sequences of 16 tokens a step, ten steps. `assignments` as in --set ("layout.tp=2"). Data: `tokens`, a file of
// write_tokens(). Throws std::runtime_error where the plan does not resolve.
ResolvedPlan tiny_plan(const std::filesystem::path& tokens, const std::vector<std::string>& assignments = {});
// Of `model`: Gemma 3 with a window of five tokens in every second layer, and GPT-NeoX.
inline const std::string kGemma = R"(model={"model_type":"gemma3_text","vocab_size":61,"hidden_size":32,)"
                                  R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,)"
                                  R"("head_dim":12,"intermediate_size":48,"max_position_embeddings":64,)"
                                  R"("rope_theta":100.0,"rope_local_base_freq":20.0,"query_pre_attn_scalar":10,)"
                                  R"("sliding_window":5,"sliding_window_pattern":2,"tie_word_embeddings":true,)"
                                  R"("rope_scaling":{"rope_type":"linear","factor":8.0}})";
inline const std::string kNeox = R"(model={"model_type":"gpt_neox","vocab_size":61,"hidden_size":32,)"
                                 R"("num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":48,)"
                                 R"("max_position_embeddings":64,"rotary_pct":0.25,"hidden_act":"gelu"})";
// GPT-OSS: windows and whole sequences in turns, a limit that some gates and ups reach.
inline const std::string kGptOss = R"(model={"model_type":"gpt_oss","vocab_size":61,"hidden_size":32,)"
                                   R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,)"
                                   R"("head_dim":12,"intermediate_size":16,"num_local_experts":4,)"
                                   R"("num_experts_per_tok":2,"router_aux_loss_coef":0.05,"sliding_window":6,)"
                                   R"("swiglu_limit":0.02,"max_position_embeddings":64,"rope_theta":100.0,)"
                                   R"("tie_word_embeddings":false,"rope_scaling":{"rope_type":"yarn","factor":4.0,)"
                                   R"("original_max_position_embeddings":32,"beta_fast":4,"beta_slow":0.5,)"
                                   R"("truncate":false}})";
// GPT-2, BLOOM and DeepSeek-V3, whose second layer has experts.
inline const std::string kTinyGpt2
    = "model={\"model_type\":\"gpt2\",\"vocab_size\":61,\"n_embd\":32,\"n_layer\":2,\"n_head\":4,"
      "\"n_positions\":32}";
inline const std::string kTinyBloom
    = "model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":2,\"n_head\":4}";
inline const std::string kTinyDeepseek = R"(model={"model_type":"deepseek_v3","vocab_size":61,"hidden_size":32,
    "num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":48,"moe_intermediate_size":16,"n_routed_experts":8,
    "num_experts_per_tok":3,"n_shared_experts":1,"n_group":4,"topk_group":2,"first_k_dense_replace":1,"q_lora_rank":12,
    "kv_lora_rank":8,"qk_nope_head_dim":6,"qk_rope_head_dim":4,"v_head_dim":8,"max_position_embeddings":64,
    "rms_norm_eps":1e-6,"rope_theta":100.0,"tie_word_embeddings":false})";
// A computer that has every precision: the planner refuses them on a plain CPU, which would only be slow.
inline const std::string kEveryPrecision
    = R"(cluster={"gpu":{"name":"CPU of every precision","generation":"blackwell","memory_gib":4,)"
      R"("memory_bandwidth_gb_s":50,"peak_tflops":{"bf16":0.2,"fp16":0.2,"fp8":0.2,"fp4":0.2,"fp32":0.2}},"gpus_per_node":8,)"
      R"("intra_node":{"bandwidth_gb_s":5,"latency_us":30},"inter_node":{"bandwidth_gb_s":5,"latency_us":30}})";
// Of `model`: fp8 by a recipe, with sides of matrices and tokens that it takes on two ranks: multiples of `side`; four
// micro-batches of one sequence.
std::vector<std::string> fp8_model(const std::string& recipe, int side);
// A file of 4000 little-endian 16-bit tokens below 61, with some order in them that can be learned.
std::filesystem::path write_tokens(const std::filesystem::path& folder);
// Writes the plan as the trainer reads it.
std::filesystem::path write_plan(const ResolvedPlan& plan, const std::filesystem::path& folder);
// The plan that a user gets as the example, with absolute data paths.
ResolvedPlan example_plan(const std::vector<std::string>& assignments = {});

} // namespace fourfold::testing
