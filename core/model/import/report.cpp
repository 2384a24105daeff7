// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/import_report.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace fourfold {

namespace {
struct Cost {
    std::string_view key, text;
};
// Keys that change what a training step costs, and that Fourfold leaves out.
constexpr std::array kCosts{
    Cost{"vision_config",
        "the vision encoder and its projector are left out: their parameters, and the tokens of images"},
    Cost{"audio_config", "the audio encoder is left out: its parameters, and the tokens of sound"},
    Cost{"num_nextn_predict_layers",
        "modules that predict further tokens are left out: each is about one more layer and one more pass through the "
        "head"},
    Cost{"num_mtp_modules",
        "modules that predict further tokens are left out: each is about one more layer and one more pass through the "
        "head"},
    Cost{"use_mtp",
        "modules that predict further tokens are left out: each is about one more layer and one more pass through the "
        "head"},
    Cost{"mtp_num_hidden_layers",
        "modules that predict further tokens are left out: each is about one more layer and one more pass through the "
        "head"},
    Cost{"mtp_hybrid_override_pattern",
        "modules that predict further tokens are left out: each is about one more layer and one more pass through the "
        "head"},
    Cost{"mtp_layers_block_type",
        "modules that predict further tokens are left out: each is about one more layer and one more pass through the "
        "head"},
    Cost{"mtp_transformer_layers", "layers of the modules that predict further tokens, which are left out"},
    Cost{"attn_logit_softcapping",
        "the cap of attention scores is not priced: kernels with it are slower, and not all kernels have it"},
    Cost{"final_logit_softcapping",
        "the cap of logits is not priced: one more pass over the logits, forward and backward"},
    Cost{"logits_soft_cap", "the cap of logits is not priced: one more pass over the logits, forward and backward"},
    Cost{"index_topk",
        "attention is predicted as if each token saw all before it: with sequences much longer than this it costs "
        "less"},
    Cost{"sliding_window",
        "the window is not modelled: attention over sequences longer than it costs less than predicted"},
    Cost{"attention_chunk_size", "attention within chunks is not modelled for this family: long sequences cost less"},
    Cost{"quantization_config",
        "the file's weights have fewer bits than training uses; memory and time are of the plan's precision"},
    Cost{"rope_scaling", "how positions are stretched changes neither sizes nor time"},
    Cost{"attention_dropout", "dropout of attention scores is not priced: a mask more to draw, and other kernels"},
    Cost{"router_jitter_noise", "noise at the router is not priced: one more pass over its inputs"},
    Cost{"n_group", "groups of experts are not modelled here: less traffic between nodes than predicted"},
    Cost{"topk_group", "groups of experts are not modelled here: less traffic between nodes than predicted"},
};

// Nothing of sizes or time.
constexpr std::array<std::string_view, 119> kWithoutEffect{"_name_or_path", "architectures", "model_type", "id", "name",
    "source", "auto_map", "torch_dtype", "dtype", "transformers_version", "use_cache", "initializer_range",
    "pretraining_tp", "return_dict", "output_hidden_states", "output_attentions", "torchscript", "use_bfloat16",
    "tf_legacy_loss", "pruned_heads", "chunk_size_feed_forward", "is_encoder_decoder", "is_decoder",
    "cross_attention_hidden_size", "add_cross_attention", "tie_encoder_decoder", "max_length", "min_length",
    "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p",
    "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
    "bad_words_ids", "num_return_sequences", "output_scores", "return_dict_in_generate", "forced_bos_token_id",
    "forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty", "suppress_tokens",
    "begin_suppress_tokens", "finetuning_task", "id2label", "label2id", "tokenizer_class", "prefix",
    "task_specific_params", "problem_type", "output_router_logits", "num_logits_to_keep", "time_step_limit",
    "time_step_min", "time_step_max", "time_step_floor", "time_step_rank", "rescale_prenorm_residual",
    "residual_in_fp32", "use_mamba_kernels", "mamba_hidden_act", "mamba_ssm_cache_dtype", "mamba_ssm_dtype", "expand",
    "mamba_expand", "ep_size", "max_window_layers", "rms_norm_eps", "layer_norm_eps",
    "original_max_position_embeddings", "rope_interleave", "rope_scaling", "rope_parameters", "rope_theta",
    "partial_rotary_factor", "rotary_dim", "swa_rope_theta", "rope_local_base_freq", "routed_scaling_factor",
    "scoring_func", "topk_method", "seq_aux", "norm_topk_prob", "aux_loss_alpha", "router_aux_loss_coef",
    "moe_router_dtype", "qk_head_dim", "embedding_multiplier", "logits_scaling", "residual_multiplier",
    "attention_multiplier", "logit_scale", "scale_emb", "scale_depth", "dim_model_base", "query_pre_attn_scalar",
    "attention_value_scale", "qk_norm_type", "moe_renormalize", "mlp_bias", "attention_bias", "num_experts_per_layer",
    "conv_dim", "conv_dim_out", "use_pos_enc", "num_heads", "block_dim", "use_mrope", "block_use_swiglu", "hidden_act",
    "block_norm_eps"};

bool is_off(const Json& value)
{
    return value.is_null() || value == false || value == 0 || (value.is_number() && value.get<double>() == 0)
        || (value.is_structured() && value.empty());
}

bool ends_with_any(std::string_view key)
{
    for (const std::string_view end : {"_token_id", "_token_ids", "_token_index", "_dropout", "_pdrop", "_init_std"})
        if (key.ends_with(end))
            return true;
    return false;
}

const Cost* cost_of(std::string_view key)
{
    const auto* const found = std::ranges::find(kCosts, key, &Cost::key);
    return found == kCosts.end() ? nullptr : found;
}

class Report {
public:
    Report(const std::set<std::string>& asked, ImportReport& report)
        : asked_(asked)
        , report_(report)
    {
    }

    void object(const Json& json, const std::string& prefix)
    {
        for (const auto& [key, value] : json.items()) {
            const std::string whole = prefix + key;
            if (!asked_.contains(whole)) {
                leave(whole, key, value);
                continue;
            }
            const bool opened = value.is_object()
                && std::ranges::any_of(asked_, [&](const std::string& one) { return one.starts_with(whole + "."); });
            if (!opened)
                report_.used.push_back(whole);
            else
                object(value, whole + ".");
        }
    }

private:
    void leave(const std::string& whole, const std::string& key, const Json& value)
    {
        const bool known = std::ranges::find(kWithoutEffect, key) != kWithoutEffect.end();
        const Cost* cost = cost_of(key);
        if (is_off(value) || (known && cost == nullptr) || (ends_with_any(key) && cost == nullptr)
            || whole.starts_with("rope_") || whole.find(".rope_") != std::string::npos)
            report_.without_effect.push_back(whole);
        else if (cost != nullptr)
            report_.ignored.push_back({whole, std::string(cost->text)});
        else
            report_.ignored.push_back(
                {whole, "not known to Fourfold: what it changes is not in the prediction", false});
    }

    const std::set<std::string>& asked_;
    ImportReport& report_;
};
} // namespace

void fill_report(const Json& config, const std::set<std::string>& asked, ImportReport& report)
{
    Report(asked, report).object(config, "");
}

std::vector<std::string> lines_of(const ImportReport& report)
{
    std::vector<std::string> lines;
    std::string used;
    for (const std::string& key : report.used)
        used += (used.empty() ? "" : ", ") + printable(key, kUncut);
    lines.push_back("used: " + used);
    for (const ImportReport::Ignored& one : report.ignored)
        lines.push_back("ignored: " + printable(one.key, kUncut) + ": " + one.cost);
    if (!report.without_effect.empty())
        lines.push_back(std::to_string(report.without_effect.size())
            + " more say nothing of sizes or time (token ids, names, initial values, positions ...)");
    if (!report.trained)
        lines.push_back("the bundled trainer does not run it; the planner predicts it");
    return lines;
}

Json to_json(const ImportReport& report)
{
    Json ignored = Json::array();
    for (const ImportReport::Ignored& one : report.ignored)
        ignored.push_back({{"key", one.key}, {"cost", one.cost}, {"known", one.known}});
    return {{"family", report.family}, {"used", report.used}, {"ignored", ignored},
        {"without_effect", report.without_effect}, {"trained", report.trained}};
}

} // namespace fourfold
